"""The commands that are really run by a command line: what a shell, or a program that runs another, is given. Pure.

A net over text of any kind, no shell: what it cannot make out it leaves as it stands.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.domain.errors import Invalid

DEPTH_MAX = 6  # shells within shells
_SHELLS = frozenset({"ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "sh", "tcsh", "zsh"})
_FILLED = ("parallel", "xargs")  # what they read becomes the last words
# Words of a shell after which a command begins.
_KEYWORDS = frozenset({"!", "{", "}", "if", "then", "else", "elif", "do", "while", "until", "coproc", "&&", "||"})
_SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_REDIRECTION = re.compile(r"&?[<>][<>&|]?-?")
_DASHED_C = re.compile(r"-[A-Za-z]*c[A-Za-z]*|--command(?:=.*)?|--init-command(?:=.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """A program that runs another: its options that take a value, the words before the other, and how it is told.

    `script`: the rest is one text for a shell, as for ssh. `text` names the options whose value is such a text.
    """

    valued: frozenset[str] = frozenset()
    skips: int = 0
    script: bool = False
    text: frozenset[str] = frozenset()
    asks: frozenset[str] = frozenset()  # options with which nothing is run


def _wrapper(valued: str = "", skips: int = 0, *, script: bool = False, text: str = "", asks: str = "") -> _Wrapper:
    return _Wrapper(frozenset(valued.split()), skips, script, frozenset(text.split()), frozenset(asks.split()))


_WRAPPERS = {
    "builtin": _wrapper(),
    "busybox": _wrapper(),
    "caffeinate": _wrapper("-t -w"),
    "chroot": _wrapper(skips=1),
    "chrt": _wrapper(skips=1),
    "command": _wrapper(asks="-v -V"),
    "doas": _wrapper("-u -C"),
    "env": _wrapper("-u -C --unset --chdir", text="-S --split-string"),
    "eval": _wrapper(script=True),
    "exec": _wrapper("-a"),
    "flock": _wrapper("-w -E --timeout --wait --conflict-exit-code", 1, text="-c --command"),
    "ionice": _wrapper("-c -n -p --class --classdata"),
    "nice": _wrapper("-n --adjustment"),
    "nohup": _wrapper(),
    "parallel": _wrapper("-j --jobs -I -a"),
    "pkexec": _wrapper("--user"),
    "runuser": _wrapper("-u -g --user --group", text="-c --command"),
    "script": _wrapper("-I -O -B -T", text="-c --command"),
    "setsid": _wrapper(),
    "ssh": _wrapper("-b -B -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w", 1, script=True),
    "stdbuf": _wrapper("-i -o -e --input --output --error"),
    "strace": _wrapper("-o -e -p -s -u -a"),
    "su": _wrapper("-g -G -s --shell --group", 1, text="-c --command"),
    "sudo": _wrapper("-u -g -h -p -C -D -r -t -T -U -R --user --group --host --prompt --chdir --chroot"),
    "taskset": _wrapper(skips=1),
    "time": _wrapper("-f -o --format --output"),
    "timeout": _wrapper("-s -k --signal --kill-after", 1),
    "toybox": _wrapper(),
    "unbuffer": _wrapper(),
    "unshare": _wrapper("-S -G -R -w"),
    "watch": _wrapper("-n --interval", script=True),
    "xargs": _wrapper("-I -n -P -L -d -E -a -s --max-args --max-procs --max-lines --delimiter --arg-file --max-chars"),
}  # fmt: skip


def commands_within(text: str) -> list[str]:
    """The commands that this line runs by others, their words without quotes, outermost first: `rm -rf x` in
    `nice bash -lc 'rm -rf x'`. Empty where each command is run as it stands.

    Raises Invalid when shells lie deeper in each other than DEPTH_MAX: such a line cannot be checked.
    """
    return list(_within(text, 0))


def _within(text: str, depth: int) -> Iterator[str]:
    if depth > DEPTH_MAX:
        raise Invalid(f"The act has more than {DEPTH_MAX} shells in each other.", "Say it more plainly.")
    for words, is_put_together in _Reader(text).read():
        found, scripts = _run_by(words)
        # The outermost line is seen by everybody as it stands.
        if found and (depth or is_put_together or found != words):
            yield " ".join(found)
        for script in scripts:
            yield from _within(script, depth + 1)


def _run_by(words: list[str]) -> tuple[list[str], list[str]]:
    """The command that these words run in the end, and the texts that are given to shells on the way."""
    at = 0
    scripts: list[str] = []
    while True:
        while at < len(words) and (words[at] in _KEYWORDS or _SETTING.match(words[at])):
            at += 1
        if at >= len(words):
            return [], scripts
        program = words[at].rpartition("/")[2].casefold()
        if program in _SHELLS:
            return [program, *words[at + 1 :]], scripts + _given_to_shell(words[at + 1 :])
        wrapper = _WRAPPERS.get(program)
        if wrapper is None:
            return [program, *words[at + 1 :]], scripts
        next_, texts = _options(wrapper, words, at + 1)
        scripts += texts
        if next_ is None:
            return [program, *words[at + 1 :]], scripts
        at = next_ + wrapper.skips
        if program in _FILLED and at < len(words):
            words = [*words, "{}"]
        if wrapper.script and at < len(words):
            return [], [*scripts, " ".join(words[at:])]


def _given_to_shell(rest: list[str]) -> list[str]:
    """The text after -c, -lc, -ec …, and after <<<."""
    found = [word[3:] or (rest[n + 1] if n + 1 < len(rest) else "") for n, word in enumerate(rest) if word[:3] == "<<<"]
    at = next((n for n, word in enumerate(rest) if _DASHED_C.fullmatch(word)), None)
    if at is None:
        return found
    if rest[at].startswith("--") and "=" in rest[at]:
        return [*found, rest[at].partition("=")[2]]
    return found + next(([word] for word in rest[at + 1 :] if not word.startswith(("-", "+"))), [])


def _options(wrapper: _Wrapper, words: list[str], at: int) -> tuple[int | None, list[str]]:
    """Where the words after a wrapper's options begin (None: it runs nothing), and the texts among the options."""
    texts: list[str] = []
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        word = words[at]
        at += 1
        if word == "--":
            break
        if word in wrapper.asks:
            return None, texts
        name, is_set, value = word.partition("=") if word.startswith("--") else _short(wrapper, word)
        takes = name in wrapper.valued or name in wrapper.text
        if takes and not is_set and at < len(words):
            value, at = words[at], at + 1
        if name in wrapper.text and value:
            texts.append(value)
    return at, texts


def _short(wrapper: _Wrapper, word: str) -> tuple[str, str, str]:
    """The option of a cluster like -nu that takes a value, and what of that is attached: -n1."""
    for place, letter in enumerate(word[1:], 2):
        if f"-{letter}" in wrapper.valued or f"-{letter}" in wrapper.text:
            return f"-{letter}", word[place:], word[place:]
    return word, "", ""


@dataclass(slots=True)
class _Frame:
    """A line that is read: between which signs it stands, and its command so far."""

    opened: str = ""
    words: list[str] = field(default_factory=list)
    word: str | None = None
    drops: bool = False  # the next word is where something is redirected to
    put_together: bool = False  # a part of it is what another command says


class _Reader:
    """Reads a text as a shell splits it; whatever has no end ends with the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._frames = [_Frame()]
        self._found: list[tuple[list[str], bool]] = []

    def read(self) -> list[tuple[list[str], bool]]:
        """The words of its simple commands, also of those in brackets and backticks; whether they are put together."""
        at = 0
        while at < len(self._text):
            at += self._quoted(at) if self._frames[-1].opened == '"' else self._bare(at)
        while len(self._frames) > 1:
            self._close()
        self._end_command()
        return self._found

    def _bare(self, at: int) -> int:
        """Takes what stands outside quotes; how many characters that were."""
        char, frame = self._text[at], self._frames[-1]
        if char == "'":
            end = self._text.find("'", at + 1)
            end = len(self._text) if end < 0 else end
            frame.word = (frame.word or "") + self._text[at + 1 : end]
            return end + 1 - at
        if char == '"':
            frame.word = frame.word or ""
            self._frames.append(_Frame('"', frame.words, frame.word, frame.drops, frame.put_together))
        elif char == "\\":
            frame.word = (frame.word or "") + self._text[at + 1 : at + 2]
            return 2
        elif self._text.startswith(("$(", "<(", ">("), at):
            return self._open("(", 2)
        elif char in "<>" or self._text.startswith("&>", at):
            return self._redirected(at)
        elif char == "#" and frame.word is None:
            end = self._text.find("\n", at)
            return (len(self._text) if end < 0 else end) - at
        elif char == "(":
            self._end_command()
            return self._open("(", 1)
        elif char == "`":
            return self._backtick()
        elif char == ")" and frame.opened == "(":
            self._close()
        elif char in ";&|\n)":
            self._end_command()
        elif char.isspace():
            self._end_word()
        else:
            frame.word = (frame.word or "") + char
        return 1

    def _quoted(self, at: int) -> int:
        char, frame = self._text[at], self._frames[-1]
        if char == '"':
            self._close_quote()
        elif char == "\\" and self._text[at + 1 : at + 2] in ('"', "\\", "$", "`"):
            frame.word = (frame.word or "") + self._text[at + 1]
            return 2
        elif self._text.startswith("$(", at):
            return self._open("(", 2)
        elif char == "`":
            return self._backtick()
        else:
            frame.word = (frame.word or "") + char
        return 1

    def _redirected(self, at: int) -> int:
        frame = self._frames[-1]
        if frame.word is not None and frame.word.isdigit():
            frame.word = None
        self._end_word()
        if self._text.startswith("<<<", at):
            frame.word = "<<<"
            return 3
        frame.drops = True
        sign = _REDIRECTION.match(self._text, at)
        return 1 if sign is None else len(sign[0])

    def _open(self, sign: str, length: int) -> int:
        self._frames.append(_Frame(sign))
        return length

    def _backtick(self) -> int:
        if self._frames[-1].opened == "`":
            self._close()
        else:
            self._open("`", 1)
        return 1

    def _close_quote(self) -> None:
        done, outer = self._frames.pop(), self._frames[-1]
        outer.word, outer.put_together = done.word, done.put_together

    def _close(self) -> None:
        """The end of a quote, or of a command within another: what `echo` would say is a part of the outer."""
        done = self._frames[-1]
        if done.opened == '"':
            self._close_quote()
            return
        self._end_word()
        said = done.words[1:] if done.words[:1] in (["echo"], ["printf"]) else []
        self._end_command()
        self._frames.pop()
        if said:
            outer = self._frames[-1]
            outer.word, outer.put_together = (outer.word or "") + " ".join(said), True

    def _end_word(self) -> None:
        frame = self._frames[-1]
        if frame.word is not None:
            if not frame.drops:
                frame.words.append(frame.word)
            frame.word, frame.drops = None, False

    def _end_command(self) -> None:
        self._end_word()
        frame = self._frames[-1]
        if frame.words:
            self._found.append((frame.words, frame.put_together))
        frame.words, frame.put_together = [], False


def as_line(words: Sequence[str]) -> str:
    """A list of words as the line that a shell would take for them."""
    return " ".join(_as_word(word) for word in words)


_NEEDS_NONE = re.compile(r"[A-Za-z0-9_@%+=:,./\-]+")


def _as_word(word: str) -> str:
    return word if _NEEDS_NONE.fullmatch(word) else "'" + word.replace("'", "'\"'\"'") + "'"
