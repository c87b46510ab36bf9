"""What a run's program asks before it acts, and which later acts a yes "for this run" covers. Pure."""

import difflib
import hashlib
import json
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from core.domain.limits import TITLE_MAX
from core.domain.plain_commands import words_of

COMMAND_MAX = 16_000  # characters of a command that a question holds
DETAILS_MAX = 4_000
FOLDER_MAX = 4_000
FILES_MAX = 50
DIFFERENCES_MAX = 60_000  # characters of all differences of a question together
COMPARED_MAX = 200_000  # characters of a file, before and after: more is not compared line by line
LINES_COMPARED_MAX = 5_000
_CONTEXT = 3


class WishKind(StrEnum):
    """What kind of act is asked about."""

    COMMAND = "command"
    EDIT = "edit"
    DELETE = "delete"
    MOVE = "move"
    READ = "read"
    FETCH = "fetch"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Change:
    """A file as it is and as it is to be; `before` is None for a new one."""

    path: str
    before: str | None
    after: str


@dataclass(frozen=True, slots=True)
class Wish:
    """What a program wants to do. `kind` is a word of WishKind (others count as other); `folder` is where it acts.

    `command` is the command line of a command, or the address of a fetch; everything is data of the program.
    `has_more`: it has arguments beside these, which stand in `details`.
    """

    title: str
    kind: str
    folder: str
    command: str = ""
    changes: tuple[Change, ...] = ()
    details: str = ""
    has_more: bool = False


class Permit(StrEnum):
    """The operator's word on a wish."""

    ONCE = "once"
    RUN = "run"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Permission:
    """The answer to a wish. `note` is the reason of a refusal, or by what it is allowed, for the transcript."""

    permit: Permit
    note: str = ""

    @property
    def is_allowed(self) -> bool:
        """Whether it may be done."""
        return self.permit != Permit.REFUSED


@dataclass(frozen=True, slots=True)
class Cover:
    """What a yes for a run covers: equal `words` of a command, or `paths` among these; else only an equal `digest`."""

    kind: str
    folder: str
    digest: str
    words: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def covers(self, other: "Cover") -> bool:
        """Whether a yes to this is a yes to the other too, in the same run."""
        if (self.kind, self.folder) != (other.kind, other.folder):
            return False
        if self.digest == other.digest:
            return True
        if self.words:
            return self.words == other.words
        return bool(self.paths) and bool(other.paths) and set(other.paths) <= set(self.paths)

    def in_words(self) -> str:
        """What later acts of the run it covers, for people."""
        where = f" in {self.folder}" if self.folder else ""
        if self.words:
            return f"every `{' '.join(self.words)}`{where}, with common options and places in that folder alone"
        if self.paths:
            return f"every {_ACTS[self.kind]} of {_few(self.paths)}"
        return "exactly the same again"


ASK_EACH_TIME = frozenset({WishKind.DELETE, WishKind.MOVE})  # what is gone is gone: no yes is one to another
_ACTS: dict[str, str] = {WishKind.EDIT: "change", WishKind.READ: "reading"}


def cover_of(kind: str, folder: str, command: str, paths: Iterable[str], digest: str, *, is_whole: bool) -> Cover:
    """What a yes to this act for its run covers. `is_whole`: `command` and `paths` are all of it, and none is cut."""
    if not is_whole:
        return Cover(kind, folder, digest)
    if kind == WishKind.COMMAND:
        return Cover(kind, folder, digest, words=words_of(command))
    paths = tuple(paths)
    if kind in _ACTS and not command and not any(".." in path.split("/") for path in paths):
        return Cover(kind, folder, digest, paths=tuple(sorted({_place(folder, path) for path in paths})))
    return Cover(kind, folder, digest)


def _place(folder: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(folder, path))


def _few(paths: tuple[str, ...]) -> str:
    shown = ", ".join(paths[:5])
    return f"{shown} and {len(paths) - 5} more files" if len(paths) > 5 else shown


def cover_as_json(cover: Cover) -> dict[str, Any]:
    """As a question's payload keeps it."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(cover).items()}


def cover_from(kept: Mapping[str, Any]) -> Cover:
    """What a question's payload kept."""
    return Cover(
        str(kept["kind"]), str(kept["folder"]), str(kept["digest"]), tuple(kept["words"]), tuple(kept["paths"])
    )  # fmt: skip


# --------------------------------------------------------------------- from a wish to a bounded question


def asked(wish: Wish) -> dict[str, Any]:
    """The arguments of AskPermission for a wish, of any size: long texts are cut and named in `cut`.

    `sha256` is of the whole wish. Compares files line by line: for a thread, not for the loop.
    """
    cut: list[str] = []
    command = _cut(wish.command, COMMAND_MAX, "command", cut)
    details = _cut(wish.details, DETAILS_MAX, "details", cut)
    folder = _cut(wish.folder, FOLDER_MAX, "folder", cut)
    files: list[dict[str, Any]] = []
    room = DIFFERENCES_MAX
    for change in wish.changes[:FILES_MAX]:
        found = difference(change)
        path = _cut(change.path, FOLDER_MAX, "path", cut)
        shown = _cut(found.text, room, path, cut)
        if found.is_rough:
            cut.append(path)
        room -= len(shown)
        files.append({"path": path, "difference": shown, "added": found.added, "removed": found.removed,
                      "is_new": change.before is None})  # fmt: skip
    more = len(wish.changes) - len(files)
    return {
        "title": _title(wish), "kind": _kind(wish.kind), "folder": folder, "command": command, "details": details,
        "files": files, "more_files": more, "cut": list(dict.fromkeys(cut)), "sha256": digest_of(wish),
        "more_arguments": wish.has_more,
    }  # fmt: skip


def digest_of(wish: Wish) -> str:
    """sha256 of the whole wish."""
    text = json.dumps(asdict(wish), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _kind(word: str) -> str:
    return word if word in set(WishKind) else WishKind.OTHER


def _title(wish: Wish) -> str:
    words = " ".join(sound(wish.title[: 4 * TITLE_MAX]).split()) or " ".join(sound(wish.command[:TITLE_MAX]).split())
    words = words or f"an act of kind {_kind(wish.kind)}"
    return words if len(words) <= TITLE_MAX else words[: TITLE_MAX - 1] + "…"


def _cut(text: str, most: int, name: str, cut: list[str]) -> str:
    if len(text) > most:
        cut.append(name)
    return sound(text[:most])


def sound(text: str) -> str:
    """A text that the board can keep: half a character is written as its escape."""
    return text.encode("utf-8", "backslashreplace").decode()


@dataclass(frozen=True, slots=True)
class Difference:
    """A unified difference without headings; `is_rough` when the file was too long to be compared line by line."""

    text: str
    added: int
    removed: int
    is_rough: bool = False


def difference(change: Change) -> Difference:
    """What a change does to its file."""
    before, after = _lines(change.before or ""), _lines(change.after)
    characters, lines_of_both = len(change.before or "") + len(change.after), len(before) + len(after)
    if characters > COMPARED_MAX or lines_of_both > LINES_COMPARED_MAX:
        rough = [f"@@ too long to be compared: {len(before)} lines become {len(after)}; its new text begins with @@"]
        return Difference("\n".join(rough + [f"+{line}" for line in after[:200]]), len(after), len(before), True)
    lines = list(_unified(before, after))
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    if not lines and change.before != change.after:
        lines = ["@@ only line ends differ @@"]
    return Difference("\n".join(lines), added, removed)


def _lines(text: str) -> list[str]:
    # Not splitlines: it takes away what a person must see, e.g. a carriage return or U+2028.
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _unified(before: list[str], after: list[str]) -> Iterator[str]:
    found = difflib.unified_diff(before, after, n=_CONTEXT, lineterm="")
    return (line for number, line in enumerate(found) if number >= 2)
