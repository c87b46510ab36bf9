"""What the room remembers between starts: `state.json` in the state folder. Nothing that a person wrote as a setting.

It is written off the loop and in one piece; a file that cannot be understood is told and put aside.
"""

import asyncio
import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tui.board_look import BoardLook

FILE = "state.json"
_MOST_BYTES = 1024 * 1024


class Layout(BaseModel):
    """How the panes of the room stand: shares of the body in percent, and what is hidden."""

    model_config = ConfigDict(extra="ignore")
    left: int = Field(50, ge=20, le=80)  # of the width; the detail has the rest
    inbox: int = Field(40, ge=15, le=85)  # of the left side's height; the board has the rest
    hidden: tuple[str, ...] = Field((), max_length=10)


class Told(BaseModel):
    """How far a subscriber was told of a company (`tui.notifying.Mark`), and how the room was left last."""

    model_config = ConfigDict(extra="ignore")
    event: int = Field(0, ge=0)
    items: tuple[str, ...] = Field((), max_length=20_000)  # ids of the inbox
    left_at: int = Field(0, ge=0)  # ms UTC; 0 while the room is open, or where nothing is to be told of it
    left: str = Field("", max_length=20)  # `closed`: its terminal was; `went on`: and the company went on without it


class Snoozed(BaseModel):
    """Something of the inbox that is put off; not a word of it is kept, only its id and the hash of what it said."""

    model_config = ConfigDict(extra="ignore")
    item: str = Field(max_length=100)
    shown: str = Field(max_length=64)
    until: int | None = None  # ms UTC; None until it changes


class Remembered(BaseModel):
    """Everything that is remembered. A field that another version wrote is kept in the file."""

    model_config = ConfigDict(extra="ignore")
    mode: str = Field("home", max_length=100)
    theme: str = Field("", max_length=100)
    raw: bool = False  # outputs as they were written
    layout: Layout | None = None
    board: BoardLook | None = None
    recent: tuple[str, ...] = Field((), max_length=50)  # folders of companies, the newest first
    reasons: tuple[str, ...] = Field((), max_length=200)  # reasons that were written, the newest first
    quiet: bool = False  # whether nobody is to be disturbed until that is taken back
    told: dict[str, Told] = Field(default_factory=dict)  # by subscriber and company's folder, e.g. `room /srv/acme`
    snoozed: dict[str, tuple[Snoozed, ...]] = Field(default_factory=dict)  # by company's folder


_BY_ENTRY = ("told", "snoozed")  # two rooms on two companies keep what is each one's: written entry by entry
_MOST_ENTRIES = 200


def state_file() -> Path:
    """Where it lies, e.g. `~/.local/state/opsroom/state.json` (XDG_STATE_HOME)."""
    return Path(platformdirs.user_state_dir("opsroom")) / FILE


class Memory:
    """What is remembered now. Without a `path` it is forgotten at the end, as in tests.

    `now` is read at once and changed by `keep`. Two rooms share the file: each writes only what it changed.
    """

    def __init__(self, path: Path | None = None, tell: Callable[[str], None] = lambda _problem: None) -> None:
        self.path = path
        self.now = Remembered()
        self.problem = ""
        self.tell = tell
        self._changed: dict[str, Any] = {}
        self._saving: asyncio.Task[None] | None = None

    @classmethod
    def read(cls, path: Path | None) -> "Memory":
        """What a file holds; blocks. A broken file is put aside, and `problem` tells it."""
        memory = cls(path)
        if path is not None:
            memory.now = memory._understood(memory._on_disk())
        return memory

    def keep(self, **changes: Any) -> None:
        """Remember these fields from now on; written soon, off the loop. Raises ValidationError for a wrong value."""
        entries = {name: changes[name] for name in _BY_ENTRY if name in changes}
        changes |= {name: {**getattr(self.now, name), **theirs} for name, theirs in entries.items()}
        self.now = Remembered.model_validate({**self.now.model_dump(), **changes})
        written = self.now.model_dump(mode="json")
        self._changed.update({name: written[name] for name in changes if name not in entries})
        for name, theirs in entries.items():
            self._changed.setdefault(name, {}).update({entry: written[name][entry] for entry in theirs})
        if self.path is not None and (self._saving is None or self._saving.done()):
            self._saving = asyncio.get_running_loop().create_task(self._save())

    async def told(self, name: str) -> Told | None:
        """How far a subscriber was told, by whichever process; None where that is not known."""
        if self.path is None:
            return self.now.told.get(name)
        return (await asyncio.to_thread(lambda: self._understood(self._on_disk()))).told.get(name)

    async def settle(self) -> None:
        """Wait until everything is written."""
        if self._saving is not None:
            await asyncio.wait({self._saving})

    async def _save(self) -> None:
        while self._changed:
            changed, self._changed = self._changed, {}
            try:
                await asyncio.to_thread(self._write, changed)
            except OSError as error:
                self._told(f"{self.path} cannot be written: {error.strerror}. What is chosen is kept until you leave.")

    def _told(self, problem: str) -> None:
        # once: the next change would fail in the same way
        if problem != self.problem:
            self.problem = problem
            self.tell(problem)

    # ------------------------------------------------------------- the file; all of it blocks

    def _write(self, changed: dict[str, Any]) -> None:
        assert self.path is not None
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _locked(self.path.with_name(f"{FILE}.lock")):
            before = self._on_disk()
            changed |= {name: _merged(before.get(name), changed[name]) for name in _BY_ENTRY if name in changed}
            text = json.dumps({**before, **changed}, ensure_ascii=True, indent=1)
            draft = self.path.with_name(f"{FILE}.{os.getpid()}.tmp")
            try:
                draft.write_text(text + "\n", encoding="utf-8")
                os.replace(draft, self.path)
            finally:
                draft.unlink(missing_ok=True)

    def _on_disk(self) -> dict[str, Any]:
        assert self.path is not None
        try:
            with self.path.open("rb") as file:
                data = file.read(_MOST_BYTES + 1)
            found = json.loads(data)
            if isinstance(found, dict):
                return found
        except FileNotFoundError:
            return {}
        except OSError as error:
            self._told(f"{self.path} cannot be read: {error.strerror}. The room starts as if it were the first time.")
            return {}
        except (ValueError, RecursionError):
            pass
        self._put_aside("is broken")
        return {}

    def _understood(self, found: dict[str, Any]) -> Remembered:
        """What is right is taken; one wrong field does not cost the others."""
        try:
            return Remembered.model_validate(found)
        except ValidationError as error:
            wrong = {str(item["loc"][0]) for item in error.errors()}
        self._put_aside(f"holds wrong values ({', '.join(sorted(wrong))})")
        return Remembered.model_validate({name: value for name, value in found.items() if name not in wrong})

    def _put_aside(self, why: str) -> None:
        assert self.path is not None
        aside = self.path.with_name(f"{FILE}.broken")
        with contextlib.suppress(OSError):
            os.replace(self.path, aside)
        self._told(f"What was remembered {why}: it was put aside as {aside}.")


def _merged(before: Any, changed: dict[str, Any]) -> dict[str, Any]:
    """The entries of a table with those that changed as its newest; the oldest go where there are too many."""
    kept = {name: each for name, each in before.items() if name not in changed} if isinstance(before, dict) else {}
    return dict([*kept.items(), *changed.items()][-_MOST_ENTRIES:])


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
