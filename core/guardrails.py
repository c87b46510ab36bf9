"""`guardrails.yaml`: the red lines of a company, read with the place of whatever is wrong in it (S2-05, D-03)."""

import asyncio
import functools
import logging
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from core.commands.company import HoldDispatching
from core.commands.door import LocalDoor
from core.domain.actors import System
from core.domain.errors import OpsroomError
from core.domain.guardrails import GUARDRAILS_FILE, GuardAction, GuardrailBook, Guardrails, RedLine
from core.domain.patterns import Costly, compiled

SHIPPED = Path(__file__).with_name("guardrails.default.yaml")
FILE_MAX = 262_144  # bytes
LINES_MAX = 100
WORDS_MAX = 200  # tags or patterns of a line
TOP = "red_lines"
_REQUIRED = ("name", "action")
_KEYS = ("name", "about", "action", "tags", "patterns")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_Signature = tuple[int, int, int, int] | None
log = logging.getLogger(__name__)


class BrokenFile(Exception):
    """What is wrong, and where: line and column count from 1."""

    def __init__(self, what: str, line: int = 1, column: int = 1) -> None:
        super().__init__(what)
        self.what, self.line, self.column = what, line, column


def read_guardrails(folder: Path) -> Guardrails:
    """The lines of a company. Never raises: `problem` says file, line, column and what is wrong.

    A company without the file has the shipped lines; so has one whose file is broken, until it is mended.
    """
    path = folder / GUARDRAILS_FILE
    try:
        data = _bytes_of(path)
        return shipped() if data is None else Guardrails(parse(data))
    except BrokenFile as broken:
        place = f"{GUARDRAILS_FILE}, line {broken.line}, column {broken.column}"
        return Guardrails(shipped().lines, f"{place}: {broken.what}")
    except OSError as error:
        return Guardrails(shipped().lines, f"{GUARDRAILS_FILE} cannot be read: {error.strerror or error}")


@functools.cache
def shipped() -> Guardrails:
    """The six red lines of D-03."""
    return Guardrails(parse(SHIPPED.read_bytes()))


def write_shipped(folder: Path) -> None:
    """Give a new company its file, to be edited; never over an existing one."""
    try:
        with (folder / GUARDRAILS_FILE).open("xb") as file:
            file.write(SHIPPED.read_bytes())
    except FileExistsError:
        return


def _bytes_of(path: Path) -> bytes | None:
    try:
        # A pipe would make the whole company wait for its other end.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        if path.is_symlink():
            raise BrokenFile("it is a link that leads nowhere") from None
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise BrokenFile("it is no file")
        data = file.read(FILE_MAX + 1)
    if len(data) > FILE_MAX:
        raise BrokenFile(f"it has more than {FILE_MAX // 1024} KiB")
    return data


@functools.lru_cache(maxsize=8)
def parse(data: bytes) -> tuple[RedLine, ...]:
    """The red lines in a file's bytes. Raises BrokenFile at the first thing that is wrong."""
    root = _tree(_text(data))
    entries = _fields(root, (TOP,), (TOP,), "the file")[TOP]
    if not isinstance(entries, yaml.SequenceNode):
        raise _wrong(entries, f"{TOP} is a list of lines that begin with '- name:'")
    if len(entries.value) > LINES_MAX:
        raise _wrong(entries, f"there are {len(entries.value)} red lines; at most {LINES_MAX}")
    lines: dict[str, RedLine] = {}
    for entry in entries.value:
        line = _line(entry, lines)
        lines[line.name] = line
    return tuple(lines.values())


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = _place(data[: error.start].decode("utf-8-sig", "replace"), None)
        raise BrokenFile("a byte that is no UTF-8", line, column) from None


def _place(text: str, position: int | None) -> tuple[int, int]:
    before = text if position is None else text[:position]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def _tree(text: str) -> yaml.Node:
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "it is not valid YAML"
        raise BrokenFile(what, *((mark.line + 1, mark.column + 1) if mark else (1, 1))) from None
    except yaml.reader.ReaderError as error:
        raise BrokenFile(f"{error.reason} ({error.character!r})", *_place(text, error.position)) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise BrokenFile(f"it is not valid YAML: {str(error)[:200] or 'nested too deeply'}") from None
    if root is None:
        raise BrokenFile(f"it is empty; write '{TOP}: []' if there are to be no red lines")
    return root


def _wrong(node: yaml.Node, what: str, further: int = 0) -> BrokenFile:
    mark = node.start_mark
    return BrokenFile(what, mark.line + 1, mark.column + 1 + further)


def _fields(node: yaml.Node, known: tuple[str, ...], needed: tuple[str, ...], thing: str) -> dict[str, yaml.Node]:
    if not isinstance(node, yaml.MappingNode):
        raise _wrong(node, f"{thing} has the keys {', '.join(known)}; this is something else")
    fields: dict[str, yaml.Node] = {}
    for key, value in node.value:
        name = _word(key, "a key")
        if name not in known:
            raise _wrong(key, f"unknown key {name!r}; {thing} has {', '.join(known)}")
        if name in fields:
            raise _wrong(key, f"the key {name!r} stands here a second time")
        fields[name] = value
    missing = [name for name in needed if name not in fields]
    if missing:
        raise _wrong(node, f"{thing} lacks {', '.join(missing)}")
    return fields


def _word(node: yaml.Node, thing: str) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise _wrong(node, f"{thing} is a text")
    if node.tag != "tag:yaml.org,2002:str":
        raise _wrong(node, f"{thing} is a text; put {node.value!r} into quotes")
    return str(node.value)


def _words(node: yaml.Node | None, thing: str) -> Iterator[tuple[yaml.Node, str]]:
    if node is None:
        return
    if not isinstance(node, yaml.SequenceNode):
        raise _wrong(node, f"{thing}s are a list, each {thing} in a line that begins with '- '")
    if len(node.value) > WORDS_MAX:
        raise _wrong(node, f"there are {len(node.value)} {thing}s; at most {WORDS_MAX} a line")
    for part in node.value:
        yield part, _word(part, f"a {thing}")


def _line(node: yaml.Node, known: dict[str, Any]) -> RedLine:
    fields = _fields(node, _KEYS, _REQUIRED, "a red line")
    name = _word(fields["name"], "a name")
    if not _NAME.fullmatch(name):
        raise _wrong(fields["name"], f"{name!r} is no name; use small letters, digits, '_' and '-', at most 40")
    if name.replace("-", "_") in {other.replace("-", "_") for other in known}:
        raise _wrong(fields["name"], f"a red line of the name {name!r} stands above already")
    action = _word(fields["action"], "an action")
    if action not in tuple(GuardAction):
        raise _wrong(fields["action"], f"unknown action {action!r}; there are {' and '.join(GuardAction)}")
    tags = []
    for part, tag in _words(fields.get("tags"), "tag"):
        if not _NAME.fullmatch(tag):
            raise _wrong(part, f"{tag!r} is no tag; use small letters, digits, '_' and '-', at most 40")
        tags.append(tag)
    patterns = tuple(_pattern(part, text) for part, text in _words(fields.get("patterns"), "pattern"))
    about = _word(fields["about"], "about") if "about" in fields else ""
    return RedLine(name, about, GuardAction(action), frozenset(tags), patterns)


def _pattern(node: yaml.Node, text: str) -> re.Pattern[str]:
    try:
        return compiled(text)
    except re.error as error:
        # In a plain or quoted text of one line the place in the pattern is a place in the file.
        quote = 1 if getattr(node, "style", None) in ("'", '"') else 0
        in_one_line = node.start_mark.line == node.end_mark.line
        further = quote + (error.pos or 0) if in_one_line else 0
        raise _wrong(node, f"the pattern is no regular expression: {error.msg}", further) from None
    except Costly as error:
        raise _wrong(node, f"the pattern is refused: {error}") from None


class GuardrailWatch:
    """Keeps the book of the board's owner as the file is. Lives as long as the owner."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: _Signature = (0, 0, 0, 0)
        self._told: str | None = None
        self._one_at_a_time = asyncio.Lock()
        self.book = GuardrailBook(shipped(), self.renew)

    async def renew(self) -> None:
        """Read the file again if it changed. Broken: the last good lines stay in force, with the problem."""
        async with self._one_at_a_time:
            found = await asyncio.to_thread(_changed, self._folder, self._read)
            if found is None:
                return
            self._read, fresh = found
            if fresh.problem:
                log.warning("%s", fresh.problem)
                fresh = Guardrails(self.book.current.lines, fresh.problem)
            self.book.current = fresh

    async def check(self, door: LocalDoor) -> None:
        """Before anything is planned or started: a broken file ends dispatching, with its message (F15, F20)."""
        await self.renew()
        problem = self.book.current.problem
        if not problem and self._told == "":
            return
        reason = f"{problem}. Mend it, then start the company." if problem else MENDED
        try:
            command = HoldDispatching(reason=reason[:2000], only_the_reason=not problem)
            await door.execute(System("guardrails"), command)
            self._told = problem
        except OpsroomError as error:
            log.warning("dispatching could not be held: %s", error)


MENDED = f"{GUARDRAILS_FILE} is in order again. Start the company when you like."


def _changed(folder: Path, before: _Signature) -> tuple[_Signature, Guardrails] | None:
    # The signature is taken before reading: a change in between is found at the next look.
    try:
        seen = os.stat(folder / GUARDRAILS_FILE)
        signature: _Signature = (seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino)
    except OSError:
        signature = None
    if signature == before and signature is not None:
        return None
    return signature, read_guardrails(folder)
