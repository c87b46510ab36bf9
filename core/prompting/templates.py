"""The templates of prompts: the shipped files, a company's own that go before them, and what is wrong with either."""

import errno
import os
import stat
import threading
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.domain.ceo_mode import CeoMode
from core.domain.errors import Invalid
from core.prompting.allowed import NotAllowed, require_allowed
from core.prompting.catalogue import FALLBACK, FOOTER, LOCALES, TEMPLATES, ceo_mode
from core.prompting.counting import count

if TYPE_CHECKING:  # jinja2 is imported on first use: the room paints before
    from jinja2 import Template
    from jinja2.sandbox import ImmutableSandboxedEnvironment

TOKENS_MAX = 500  # of one template, S3-22
FILE_MAX = 16_384  # bytes
FILES_LOOKED_AT = 2_000  # of a company's own folder
RENDERED_MAX = 1_000_000  # code points of a template with the facts of the board
OWN = " (the company's own)"


@cache
def _environment() -> "ImmutableSandboxedEnvironment":
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    made = ImmutableSandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.globals.clear()  # range, lipsum and the like: a template says facts, and computes nothing
    made.filters[_LISTED] = _listed
    return made


_LISTED = "items of a list"


def _listed(value: object) -> object:
    """What a loop may go over: a text has as many letters as its author likes."""
    from jinja2 import StrictUndefined, TemplateRuntimeError

    if not isinstance(value, (list, tuple, StrictUndefined)):
        raise TemplateRuntimeError("for goes over a list, and this is none")
    return value


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a file of templates; `line` counts from 1 and is 0 when the file itself is missing."""

    file: str
    line: int
    what: str
    is_fatal: bool = False

    def __str__(self) -> str:
        return f"{self.file}{f', line {self.line}' if self.line else ''}: {self.what}"


@dataclass(frozen=True, slots=True)
class Rendered:
    """The text of a template with its facts, the file that it came from, and what is to be told about that."""

    text: str
    source: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One template in one language: the shipped text, the company's own if there is one, and what is wrong with it."""

    name: str
    locale: str
    shipped: str | None
    own: str | None
    problem: Problem | None = None

    @property
    def file(self) -> str:
        """Its place, below the program's or the company's folder."""
        return _file(self.name, self.locale)

    @property
    def is_overridden(self) -> bool:
        """Whether the company's own text is in use."""
        return self.own is not None and self.problem is None


@dataclass(frozen=True, slots=True)
class _Kept:
    """A file as it was read: `template` is there when it renders with the samples, else `problem` is.

    `signature` tells one version of the file from the next; None has it read again.
    """

    signature: tuple[int, ...] | None
    text: str | None = None
    template: "Template | None" = None
    problem: Problem | None = None


_MISSING = _Kept(None)
_MISSES = {True: "it is missing", False: "it is missing: the English text is used instead"}


class Library:
    """Templates by name and locale. `refresh` reads what changed and blocks; everything else is quick.

    A company's own file goes before the shipped one, in its language only. One that is refused is named in warnings,
    and the shipped one stays in use.
    """

    def __init__(self, folder: Path | None = None, overrides: Path | None = None) -> None:
        self.folder = folder or shipped()
        self.overrides = overrides
        self._kept: dict[tuple[str, str, bool], _Kept] = {}
        self._lock = threading.Lock()

    def refresh(self) -> None:
        """Read the files that changed since the last time. Blocks: not on the loop."""
        with self._lock:
            for is_own, folder in ((False, self.folder), (True, self.overrides)):
                # Most companies have no texts of their own.
                are_there = folder is not None and folder.is_dir() and not (is_own and folder.is_symlink())
                for name in TEMPLATES:
                    for locale in LOCALES:
                        key = (name, locale, is_own)
                        if folder is not None and are_there:
                            self._kept[key] = _read(folder, name, locale, is_own, self._kept.get(key, _MISSING))
                        else:
                            self._kept[key] = _MISSING

    def render(self, name: str, locale: str, facts: Mapping[str, Any]) -> Rendered:
        """A template with its facts, no blanks around it. Raises Invalid when not even the English text is there."""
        warnings: list[str] = []
        for language in dict.fromkeys((locale, FALLBACK)):
            own, ours = self._get(name, language, True), self._get(name, language, False)
            if own.problem is not None:
                warnings.append(f"{own.problem}; the shipped text is used.")
            for kept, is_own in ((own, True), (ours, False)):
                if kept.template is None:
                    continue
                file = _file(name, language) + (OWN if is_own else "")
                try:
                    text = _rendered(kept.template, facts)
                    if is_own and ours.template is not None:
                        _require_short(text, TOKENS_MAX + count(_rendered(ours.template, facts)))
                    return Rendered(text, file, tuple(warnings))
                except Exception as error:
                    if not is_own:
                        raise
                    warnings.append(f"{_problem_of(error, file)}; the shipped text is used.")
            if language != FALLBACK:
                warnings.append(f"{_file(name, language)} is missing: the English text is used instead.")
        raise _missing(name)

    def entries(self) -> list[Entry]:
        """Every template in every language, in the order of the catalogue."""
        return [
            Entry(name, locale, self._get(name, locale, False).text, own.text, own.problem)
            for name in TEMPLATES
            for locale in LOCALES
            for own in (self._get(name, locale, True),)
        ]

    def missing(self) -> list[Problem]:
        """The shipped files that are not there. Blocks for a moment, and renders nothing."""
        return [
            Problem(_file(name, locale), 0, _MISSES[locale == FALLBACK], locale == FALLBACK)
            for name in TEMPLATES
            for locale in LOCALES
            if not (self.folder / f"{name}.{locale}.md").is_file()
        ]

    def check(self) -> list[Problem]:
        """Whatever is wrong with any file, the fatal ones first. Reads the files: not on the loop."""
        self.refresh()
        found: list[Problem] = []
        for name in TEMPLATES:
            for locale in LOCALES:
                ours, own = self._get(name, locale, False), self._get(name, locale, True)
                is_fatal = locale == FALLBACK
                if ours.problem is not None:
                    found.append(Problem(ours.problem.file, ours.problem.line, ours.problem.what, is_fatal))
                elif ours.template is None:
                    found.append(Problem(_file(name, locale), 0, _MISSES[is_fatal], is_fatal))
                found += [own.problem] if own.problem is not None else []
        found += _strangers(self.overrides)
        return sorted(found, key=lambda problem: not problem.is_fatal)

    def require(self, *, whole: bool = True) -> tuple[str, ...]:
        """The start-up check (S0-12): warnings for what is not fatal. Blocks. Raises Invalid, which names the file.

        Unless it is to be `whole`, it only looks whether the shipped files are there.
        """
        problems = self.check() if whole else sorted(self.missing(), key=lambda problem: not problem.is_fatal)
        if problems and problems[0].is_fatal:
            first = problems[0]
            told = f"{first.file} is missing" if not first.line else str(first)
            raise Invalid(f"{told}; nothing was started.", "Put it back, or install Opsroom again.")
        return tuple(_warning(problem) for problem in problems)

    def _get(self, name: str, locale: str, is_own: bool) -> _Kept:
        if not self._kept:
            self.refresh()
        return self._kept.get((name, locale, is_own), _MISSING)


@cache
def shipped() -> Path:
    """The folder of the prompts that come with the program."""
    return Path(str(files("prompts")))


@cache
def shipped_library() -> Library:
    """The shipped templates alone."""
    return Library()


def ceo_text(library: Library, mode: CeoMode, locale: str) -> tuple[Rendered, Rendered]:
    """What a CEO is told of its mode, and the footer that all modes share (S0-11, S0-14)."""
    return library.render(ceo_mode(mode), locale, {}), library.render(FOOTER, locale, {})


def _file(name: str, locale: str) -> str:
    return f"prompts/{name}.{locale}.md"


def _missing(name: str) -> Invalid:
    return Invalid(f"{_file(name, FALLBACK)} is missing; nothing was told.", "Put it back, or install Opsroom again.")


def _warning(problem: Problem) -> str:
    if problem.line == 0 and problem.what.startswith("it is missing"):
        return f"{problem.file} {problem.what.removeprefix('it ')}."
    return f"{problem}; the shipped text is used." if problem.file.endswith(OWN) else f"{problem}."


def _read(folder: Path, name: str, locale: str, is_own: bool, known: _Kept) -> _Kept:
    file = _file(name, locale) + (OWN if is_own else "")
    path = folder / f"{name}.{locale}.md"
    try:
        found = path.lstat()
        if known.signature == _signature(found):
            return known
        if is_own and path.parent.is_symlink():
            raise _Refused(file, 1, "its folder is a link: put a folder in its place")
        text, found = _text(path, file, is_own)
        return replace(_loaded(text, name, file, is_own), signature=_signature(found))
    except (FileNotFoundError, NotADirectoryError):
        return _MISSING
    except OSError as error:
        # May be gone the next time: an error is never kept.
        return _Kept(None, problem=Problem(file, 1, f"it cannot be read: {error.strerror}"))
    except _Refused as refused:
        return _Kept(None, problem=refused.problem)


def _signature(found: os.stat_result) -> tuple[int, ...]:
    # An editor may keep the size and set the time of change, but not the inode's.
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


@lru_cache(maxsize=512)  # companies share the shipped files
def _loaded(text: str, name: str, file: str, is_own: bool) -> _Kept:
    try:
        template = _compiled(text, file)
        _try(name, template, file, is_own)
    except _Refused as refused:
        return _Kept(None, text, problem=refused.problem)
    return _Kept(None, text, template)


class _Refused(Exception):
    def __init__(self, file: str, line: int, what: str) -> None:
        super().__init__(what)
        self.problem = Problem(file, line, what)


def _text(path: Path, name: str, is_own: bool) -> tuple[str, os.stat_result]:
    """A file's text and which version it is. Raises OSError, and _Refused for what is none of ours to read."""
    # A pipe would make the company wait for its other end; a link would tell agents of any file of the operator's.
    flags = os.O_RDONLY | os.O_NONBLOCK | (os.O_NOFOLLOW if is_own else 0)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _Refused(name, 1, "it is a link: put a file in its place") from None
        raise
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise _Refused(name, 1, "it is no file")
        with open(descriptor, "rb", closefd=False) as opened:
            data = opened.read(FILE_MAX + 1)
    finally:
        os.close(descriptor)
    if len(data) > FILE_MAX:
        raise _Refused(name, 1, f"it has more than {FILE_MAX // 1024} KiB")
    try:
        return data.decode("utf-8-sig"), found
    except UnicodeDecodeError as error:
        raise _Refused(name, data[: error.start].count(b"\n") + 1, "a byte that is no UTF-8") from None


def _compiled(text: str, file: str) -> "Template":
    from jinja2 import Template, TemplateSyntaxError, nodes

    environment = _environment()
    try:
        tree = environment.parse(text, name=file, filename=file)
        require_allowed(tree)
        for loop in tree.find_all(nodes.For):
            loop.iter = nodes.Filter(
                loop.iter, _LISTED, [], [], None, None, lineno=loop.lineno, environment=environment
            )
        code = environment.compile(tree, name=file, filename=file)
    except TemplateSyntaxError as error:
        raise _Refused(file, error.lineno, error.message or "it is no template") from None
    except NotAllowed as error:
        raise _Refused(file, error.line, str(error)) from None
    except Exception as error:
        # Also what Python's own compiler stumbles over: nesting, huge numbers, too little memory.
        raise _Refused(file, 1, f"it is too complicated, or no template ({type(error).__name__})") from None
    return Template.from_code(environment, code, environment.globals)


class _TooLong(Exception):
    """A text is longer than it may be; says by how much."""


def _require_short(text: str, most: int) -> None:
    if (length := count(text)) > most:
        raise _TooLong(f"it has {length:,} tokens and may have {most:,}: cut {length - most:,}")


def _rendered(template: "Template", facts: Mapping[str, Any]) -> str:
    """Its text, no blanks around it. Raises _TooLong; UnicodeEncodeError for what cannot be sent or kept."""
    parts: list[str] = []
    size = 0
    for part in template.generate(facts):
        parts.append(part)
        size += len(part)
        if size > RENDERED_MAX:
            raise _TooLong(f"it has more than {RENDERED_MAX:,} characters with the facts of the board")
    text = "".join(parts).strip()
    text.encode()
    return text


def _try(name: str, template: "Template", file: str, is_own: bool) -> None:
    """Render it with each sample; a company's own must also be as short as the shipped ones (S3-22)."""
    for number, facts in enumerate(TEMPLATES[name]):
        try:
            text = _rendered(template, facts)
            if is_own:
                _require_short(text, TOKENS_MAX)
        except Exception as error:
            problem = _problem_of(error, file)
            raise _Refused(problem.file, problem.line, problem.what) from None
        if number == 0 and not text:
            raise _Refused(file, 1, "it says nothing")


def _problem_of(error: Exception, file: str) -> Problem:
    """What a template stumbled over, and in which of its lines."""
    from jinja2 import TemplateError

    if isinstance(error, _TooLong):
        return Problem(file, 0, str(error))
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    what = str(error) if isinstance(error, TemplateError) else f"{type(error).__name__}: {error}"
    return Problem(file, (lines[-1] if lines else None) or 1, what or type(error).__name__)


def _strangers(folder: Path | None) -> list[Problem]:
    """Files of a company that nothing reads, hidden ones apart: most likely a misspelled name or a wrong folder."""
    if folder is not None and folder.is_symlink():
        return [Problem(f"prompts{OWN}", 0, "it is a link, and nothing in it is read: put a folder in its place")]
    if folder is None or not folder.is_dir():
        return []
    known = {f"{name}.{locale}.md" for name in TEMPLATES for locale in LOCALES}
    found = (path.relative_to(folder) for path in islice(folder.rglob("*"), FILES_LOOKED_AT) if path.is_file())
    return [
        Problem(f"prompts/{one}{OWN}", 0, "nothing reads it: no template has this name")
        for one in sorted(path.as_posix() for path in found if not any(part.startswith(".") for part in path.parts))
        if one not in known
    ]
