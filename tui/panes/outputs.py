"""What was delivered, drawn by what it is or as it was written. Files are read and understood in a thread.

Whoever looks at a long one sees its beginning at once. What was read is kept, for the tab is read again at every event.
"""

import asyncio
import codecs
import hashlib
import stat
from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from core.company import OpenCompany
from core.domain.entities import Output
from tui.panes.changes import read_task_changes
from tui.panes.words import clock_time
from tui.rendering.kinds import document
from tui.rendering.pieces import Document, Piece, as_written, fixed
from tui.rendering.spans import wrapped
from tui.text import amount, one_line
from tui.widgets.prose import Block
from tui.widgets.row import Cell

FIRST_BYTES = 64 * 1024  # of a file, shown before the rest is read
MOST_BYTES = 8 * 1024 * 1024  # of one file
MOST_TOGETHER = 24 * 1024 * 1024  # of all that is kept
MOST = 50


@dataclass(frozen=True, slots=True)
class _Read:
    """What a file gave: its text, how much there is beyond it, and what is wrong with it."""

    text: str
    more: int = 0
    problem: str = ""


class Outputs:
    """Reads the outputs of a task or a goal. `raw` shows them as they were written."""

    def __init__(self, company: OpenCompany) -> None:
        self._company = company
        self._kept: OrderedDict[tuple[object, ...], tuple[Document, int]] = OrderedDict()
        self.raw = False
        self.is_unfinished = False

    async def read(self, kind: str, number: int, *, key: str, hurry: bool = False) -> list[Block]:
        """The newest first. `hurry` leaves long files at their beginning; `is_unfinished` says that there is more.

        `key` is what switches between drawn and written, to be told.
        """
        self.is_unfinished = False
        if kind not in ("goal", "task"):
            return []
        where = f"{kind}_id = :id ORDER BY task_id IS NOT NULL, id DESC LIMIT {MOST}"
        found = await self._company.board.readers.entities(Output, where, id=number)
        changes = await read_task_changes(self._company, number) if kind == "task" else []
        blocks, left = [], MOST_TOGETHER
        for one in found:
            is_long = one.content is None and one.size > FIRST_BYTES
            whole = not is_long or (not hurry and left > 0)
            left -= one.size if is_long else 0
            self.is_unfinished |= hurry and not whole
            blocks.append(await self._block(one, key, MOST_BYTES if whole else FIRST_BYTES, hurry))
        return changes + blocks

    async def _block(self, output: Output, key: str, most: int, hurry: bool) -> Block:
        about = f"T{output.task_id}" if output.task_id else f"G{output.goal_id}"
        covers = f"for {', '.join(output.must_haves)}" if output.must_haves else ""
        heading: tuple[Cell, ...] = (
            (f"{output.name_tag} {output.title}", "strong"), (output.type, "info"),
            (f"{amount(output.size)} bytes", "dim"), (covers, "dim"),
            (f"{output.created_by} {about} {clock_time(output.created_at)}", "dim"),
        )  # fmt: skip
        found = await self._document(output, key, most, hurry)
        return Block(tuple(cell for cell in heading if cell[0]), "", "info", document=found)

    async def _document(self, output: Output, key: str, most: int, hurry: bool) -> Document:
        path = self._company.folder / "outputs" / output.path if output.path else None
        state = await asyncio.to_thread(_state, path) if path is not None else ()
        wanted = (output.id, output.sha256, self.raw, key, state)
        if kept := self._kept.get(wanted):
            self._kept.move_to_end(wanted)
            return kept[0]
        found, size = await asyncio.to_thread(self._drawn, output, key, most, hurry)
        if most == MOST_BYTES:
            self._keep(wanted, found, size)
        return found

    def _keep(self, wanted: tuple[object, ...], found: Document, size: int) -> None:
        self._kept[wanted] = (found, size)
        while len(self._kept) > 1 and sum(size for _, size in self._kept.values()) > MOST_TOGETHER:
            self._kept.popitem(last=False)

    def _drawn(self, output: Output, key: str, most: int, hurry: bool) -> tuple[Document, int]:
        """In a thread: the document, and how much text it holds."""
        folder = self._company.folder / "outputs"
        read = _Read(output.content) if output.content is not None else _file(folder, output, most)
        name = output.path or output.title
        drawn = document(read.text, type=output.type, name=name, raw=self.raw) if read.text else Document((), "")
        other = f"{key} draws it" if self.raw else f"{key} shows it as written"
        where = f"file {folder / output.path}" if output.path else "on the board"
        told = [drawn.about, other if drawn.about and not drawn.about.startswith("text") else "", where,
                f"sha256 {output.sha256[:16]}…"]  # fmt: skip
        pieces: list[Piece] = [_line(" · ".join(each for each in told if each), "dim")]
        if read.problem:
            pieces.append(_line(read.problem, "warn"))
        if output.summary:
            pieces += [fixed([()]), *as_written(output.summary)]
        if drawn.pieces:
            pieces += [fixed([()]), *drawn.pieces]
        if read.more:
            pieces.append(_line(f"… {amount(read.more)} bytes more{': reading…' if hurry else ''}", "warn"))
        return Document(tuple(pieces), drawn.about), len(read.text)


def _line(text: str, look: str) -> Piece:
    return Piece(partial(wrapped, [(one_line(text), look)]), len(text))


def _state(path: Path) -> tuple[int, ...]:
    """What changes when a file does."""
    try:
        known = path.stat()
    except OSError:
        return ()
    return known.st_mtime_ns, known.st_size, known.st_ino


def _file(folder: Path, output: Output, most: int) -> _Read:
    """The beginning of a delivered file; whether it still is what was delivered, if all of it is read."""
    assert output.path is not None
    target = (folder / output.path).resolve()
    if not target.is_relative_to(folder.resolve()):
        return _Read("", problem="The file is outside the outputs folder.")
    try:
        known = target.stat()
        if not stat.S_ISREG(known.st_mode):
            return _Read("", problem="This is no file any more.")
        with target.open("rb") as file:
            data = file.read(most)
    except OSError as error:
        return _Read("", problem=f"The file cannot be read: {error.strerror}.")
    more = max(0, known.st_size - len(data))
    is_other = known.st_size != output.size or (not more and hashlib.sha256(data).hexdigest() != output.sha256)
    problem = "✗ The file was changed after it was delivered: its sha256 is another one." if is_other else ""
    if b"\0" in data[:FIRST_BYTES]:
        return _Read("", problem=problem or "The file is binary: nothing of it is shown.")
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(data, final=not more)
    return _Read(text, more, problem)
