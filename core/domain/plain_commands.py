"""Which plain commands a yes "for this run" may stretch over by their first words: a short list, and pure.

On it are programs whose options and places, as far as they are named here, neither start another program nor write or
read beyond the run's folder. What such a program finds in that folder (tests, targets, plugins) is its own to run.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Places(StrEnum):
    """What may stand beside options."""

    NONE = "none"
    PATHS = "paths"  # within the folder, or names
    PACKAGES = "packages"  # of go: ./x


@dataclass(frozen=True, slots=True)
class Known:
    """A command by its first words; "TARGET" stands for one name.

    Options in `flags` stand alone, those in `valued` take a value. `after` are the flags after a `--`; None: nothing
    may stand there.
    """

    words: tuple[str, ...]
    flags: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    places: Places = Places.PATHS
    after: frozenset[str] | None = None


def _known(
    words: str, flags: str = "", valued: str = "", places: Places = Places.PATHS, after: str | None = None
) -> Known:
    behind = None if after is None else frozenset(after.split())
    return Known(tuple(words.split()), frozenset(flags.split()), frozenset(valued.split()), places, behind)


# Left out on purpose, e.g.: pytest -p, -c, -o, --basetemp; ruff --fix; mypy --python-executable; eslint --rulesdir, -f;
# go -exec, -toolexec, -o; cargo --config; make -f, --eval, NAME=value; git --output, --ext-diff.
_PYTEST = (
    "-q -v -s -x -l --quiet --verbose --exitfirst --lf --ff --nf --sw --last-failed --failed-first --stepwise --co"
    " --collect-only --no-header --no-summary --strict-markers --strict-config --no-cov --showlocals --cache-clear",
    "-k -m -n -r --tb --maxfail --durations --color --timeout --capture",
)
_MYPY = (
    "-v --strict --pretty --no-incremental --show-error-codes --show-error-context --no-color-output"
    " --ignore-missing-imports --warn-unused-ignores --explicit-package-bases --namespace-packages",
    "--python-version --follow-imports --platform",
)
_CARGO_FLAGS = (
    "-q -v -r --quiet --verbose --release --workspace --all --lib --bins --tests --examples --benches --doc --no-run"
    " --all-targets --all-features --no-default-features --no-fail-fast --locked --offline --frozen --keep-going"
)
_CARGO_VALUED = "-p -j -F --package --test --bin --example --features --jobs --message-format --color --exclude"
_GO_FLAGS = "-v -x -n -a -race -json -trimpath"
_GO_VALUED = "-p -tags"
_TO_TEST = "-v -q -s"

KNOWN: tuple[Known, ...] = (
    _known("pytest", *_PYTEST),
    _known("python -m pytest", *_PYTEST),
    _known("python3 -m pytest", *_PYTEST),
    _known("ruff check", "-q -v --quiet --verbose --statistics --diff --no-cache --preview --exit-zero --no-fix",
           "--select --ignore --extend-select --extend-ignore --output-format --target-version --line-length"),
    _known("ruff format --check", "-q -v --quiet --verbose --diff --no-cache", "--target-version --line-length"),
    _known("black --check", "-q -v --quiet --verbose --diff --color --no-color", "-l --line-length --target-version"),
    _known("mypy", *_MYPY),
    _known("python -m mypy", *_MYPY),
    _known("python3 -m mypy", *_MYPY),
    _known("pyright", "--stats --warnings --verbose", "--level --pythonversion --pythonplatform"),
    _known("eslint", "--quiet --no-color --color", "--max-warnings --ext"),
    _known("prettier --check", "--no-color --log-level"),
    _known("tsc --noEmit", "--pretty --strict --skipLibCheck --listFiles", places=Places.NONE),
    _known("npm test", "-s --silent", places=Places.NONE, after=""),
    _known("pnpm test", "-s --silent", places=Places.NONE, after=""),
    _known("yarn test", "-s --silent", places=Places.NONE, after=""),
    _known("cargo test", _CARGO_FLAGS, _CARGO_VALUED,
           after="--nocapture --ignored --include-ignored --exact --list --quiet --show-output"),
    _known("cargo check", _CARGO_FLAGS, _CARGO_VALUED, Places.NONE),
    _known("cargo build", _CARGO_FLAGS, _CARGO_VALUED, Places.NONE),
    _known("cargo clippy", _CARGO_FLAGS, _CARGO_VALUED, Places.NONE),
    _known("go test", f"{_GO_FLAGS} -short -failfast -cover -benchmem", f"{_GO_VALUED} -run -skip -count -timeout"
           " -bench -benchtime -cpu -parallel -covermode -shuffle", Places.PACKAGES),
    _known("go vet", _GO_FLAGS, _GO_VALUED, Places.PACKAGES),
    _known("go build", _GO_FLAGS, _GO_VALUED, Places.PACKAGES),
    _known("make TARGET", "-k -s -n -B -j --jobs --keep-going --silent --dry-run --no-print-directory", "-j --jobs",
           Places.NONE),
    _known("git status", "-s -b -v --short --branch --long --ignored --show-stash -uno -unormal -uall --porcelain",
           "--untracked-files"),
    _known("git diff", "-w -b -p --stat --shortstat --numstat --name-only --name-status --cached --staged --check"
           " --summary --no-color --word-diff --no-ext-diff --no-textconv", "-U --unified --diff-filter", after=""),
    _known("git log", "-p --oneline --stat --shortstat --numstat --name-only --name-status --graph --all --decorate"
           " --no-merges --merges --reverse --first-parent --follow --no-color", "-n --max-count --since --until"
           " --author --grep --date", after=""),
    _known("git show", "-s -p --stat --shortstat --numstat --name-only --name-status --oneline --no-color",
           "-U --unified", after=""),
)  # fmt: skip

_CHARACTERS = re.compile(r"[A-Za-z0-9_./:=@%+, \-~'\"\[\]]+")
_TARGET = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_ELSEWHERE = re.compile(r"(?:^|[:=,])[/~@]|(?:^|[/:=,])\.\.(?:$|[/:=,])|://")


def words_of(command: str) -> tuple[str, ...]:
    """The words by which a plain command is known again, e.g. `cargo test`; empty for what is not on the list.

    Also empty for signs of a shell, settings before the program, a program by a path, options that the list does not
    name, and places beyond the folder.
    """
    if _CHARACTERS.fullmatch(command) is None or not command.strip():
        return ()
    try:
        parts = shlex.split(command)
    except ValueError:
        return ()
    for known in KNOWN:
        count = len(known.words)
        if _begins(parts, known.words):
            return tuple(parts[:count]) if _is_plain(known, parts[count:]) else ()
    return ()


def _begins(parts: Sequence[str], words: tuple[str, ...]) -> bool:
    return len(parts) >= len(words) and all(
        _TARGET.fullmatch(part) is not None if word == "TARGET" else part == word
        for part, word in zip(parts, words, strict=False)
    )


def _is_plain(known: Known, rest: Sequence[str]) -> bool:
    """Whether each argument is one that the list names, or a place within the folder."""
    waits = False
    for number, word in enumerate(rest):
        if _ELSEWHERE.search(word) is not None:
            return False
        if waits:
            if word.startswith("-"):
                return False
            waits = False
        elif word == "--":
            return known.after is not None and _all_behind(known.after, rest[number + 1 :])
        elif word.startswith("-"):
            found = _option(known, word)
            if found is None:
                return False
            waits = found
        elif not _is_place(known.places, word):
            return False
    return not waits


def _all_behind(flags: frozenset[str], rest: Sequence[str]) -> bool:
    return all(_ELSEWHERE.search(word) is None and (not word.startswith("-") or word in flags) for word in rest)


def _option(known: Known, word: str) -> bool | None:
    """Whether its value is the next word; None for an option that the list does not name."""
    name, is_set, _ = word.partition("=")
    if is_set:
        return False if name in known.valued else None
    if word in known.flags:
        return False
    if word in known.valued:
        return True
    if word[1:].isdigit() and "-n" in known.valued:
        return False  # git log -5
    if not word.startswith("--") and known.places != Places.PACKAGES:  # go has long options with one dash
        if word[:2] in known.valued and len(word) > 2:
            return False
        if all(f"-{letter}" in known.flags for letter in word[1:]) and len(word) > 1:
            return False
    return None


def _is_place(places: Places, word: str) -> bool:
    match places:
        case Places.PATHS:
            return True
        case Places.PACKAGES:
            return word == "." or word.startswith("./")
        case Places.NONE:
            return False
