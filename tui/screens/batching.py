"""One answer to several: what is marked in the inbox is decided together, after one question that lists each."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from core.commands.registry import parse
from core.domain.errors import OpsroomError
from core.domain.inbox import InboxItem
from core.domain.inbox_marks import Batch, Marks, Part, batch, fingerprint, shown_hash, still_same
from tui import signs
from tui.panes.inbox import LETTERS
from tui.text import capital, counted, one_line

if TYPE_CHECKING:
    from tui.screens.control import ControlScreen

KEYS = frozenset("abr")
NAMED = 4  # in a line; the question lists all of them
MOST_SEEN = 2_000


class Batching:
    """The marks, what of the inbox was on the screen, and the way from a key to held decisions."""

    def __init__(self, room: "ControlScreen") -> None:
        self._room = room
        self._number = 0
        self._seen: dict[str, None] = {}
        self.marks = Marks()

    # ------------------------------------------------------------- marks

    def saw(self, item: InboxItem | None) -> None:
        """It is on the screen with all that it says: a yes to several counts for it as it is now."""
        if item is not None and self._room.detail.size.width:
            self._seen[fingerprint(item)] = None
            for oldest in list(self._seen)[:-MOST_SEEN]:
                del self._seen[oldest]

    def changed(self) -> None:
        """A mark was set or taken away."""
        listed = self._room.inbox.list.marked
        if listed == set(self.marks.shown):
            return
        self.marks.set(listed, {item.id: item for item in self._room.view.inbox()})
        self._room.waiting.show(self._room.now())
        if self.marks:
            keys = [self._room.view.keymap.instead(key) for key in "abr"]
            self._room.say(f"{len(self.marks)} marked: {keys[0]}, {keys[1]} or {keys[2]} decides them after one"
                           " question; esc takes the marks away.")  # fmt: skip

    def follow(self, items: Iterable[InboxItem]) -> None:
        """What changed or went takes its mark with it, and that is said."""
        if not self.marks:
            return
        there = {item.id: fingerprint(item) for item in items}
        lost = [name for name, shown in self.marks.shown.items() if there.get(name) != shown]
        if lost:
            self._unmark(lost)
            changed = [tag_of(name) for name in lost if name in there]
            gone = [tag_of(name) for name in lost if name not in there]
            parts = [f"{few(names)} {what}" for names, what in ((changed, "changed"), (gone, "is over")) if names]
            self._room.say(f"{'; '.join(parts)}: no mark is left there.", "warn")

    def clear(self) -> None:
        """Nothing is marked."""
        self._unmark(list(self.marks.shown))
        self._room.waiting.show(self._room.now())

    def _unmark(self, names: Sequence[str]) -> None:
        self.marks.drop(names)
        for name in names:
            if name in self._room.inbox.list.marked:
                self._room.inbox.list.toggle_mark(name)

    # ------------------------------------------------------------- the answer

    def decide(self, key: str) -> bool:
        """Ask about all that is marked; False where this key means what is under the cursor alone."""
        room = self._room
        if not self.marks or key not in KEYS or not room.at_inbox or room.situation.in_detail:
            return False
        found = batch(key, self.marks.shown, room.view.inbox(), self._seen.__contains__)
        if not found.parts:
            name, why = found.left_out[0]
            shown = room.view.keymap.instead(key)
            room.say(f"{shown} decides none of the {len(self.marks)} marked. {tag_of(name)}: {why}.", "warn")
        elif any(part.choice.note_field for part in found.parts):
            room.decisions.ask_reason(f"{_verb(found)} {_tags(found.parts)}:", lambda note: self._ask(found, note))
        else:
            self._ask(found, "")
        return True

    def _ask(self, found: Batch, note: str) -> None:
        lines: list[str] = []
        for part in found.parts:
            item, choice = part.item, part.choice
            lines.append(f"{tag_of(item.id)}  {signs.of_item(item)[1]}  {one_line(item.title)}")
            lines.append(f"    {choice.verb}: {choice.effect}")
            lines += ["    cannot be taken back once it is sent"] if choice.command in _ENDS else []
            lines.append(f"    sha256 {shown_hash(item, choice)[:32]}…")
        if note:
            lines += ["", f"Your reason, for each: {one_line(note)}"]
        if found.left_out:
            lines += ["", "Left out, their marks stay:"]
            lines += [f"    {tag_of(name)}: {why}" for name, why in found.left_out]
        count = counted(len(found.parts), "decision")
        self._room.decisions.confirm(
            f"{capital(_verb(found))}: {count}?", lines, f"{capital(_verb(found))} {len(found.parts)}",
            lambda: self._hold(found, note),
        )  # fmt: skip

    def _hold(self, asked: Batch, note: str) -> None:
        """The answer was yes: each decision is held, and all are taken back by one key."""
        decisions = self._room.decisions
        found = still_same(asked.parts, self._room.view.inbox())
        self._number += 1
        words = f"{_verb(asked)} {_tags(found.parts)}"
        for part in found.parts:
            arguments = {**part.choice.arguments, **({part.choice.note_field: note} if part.choice.note_field else {})}
            try:
                command = parse(part.choice.command, arguments)
            except OpsroomError as problem:
                self._room.refuse(problem)
                return
            subject = part.item.id if part.item.id.startswith("approval:") else part.item.entity
            own = f"{part.choice.verb} {tag_of(part.item.id)}"
            decisions.holding.hold(subject, own, command, part.choice.effect, together=(self._number, words), part=part)
        self._unmark([part.item.id for part in asked.parts])
        if found.left_out:
            self._room.say(skipped(found.left_out), "warn")
        self._room.decisions_changed()


_ENDS = frozenset({"CancelGoal", "CancelTask", "EndRound"})
_OF_THINGS = {"goal": "G", "task": "T", "round": "N", "agent": "A", "run": "R", "approval": "Q"}


def tag_of(item_id: str) -> str:
    """The short name of an item: Q4 for a question, else that of its thing."""
    *_, kind, number = item_id.split(":")
    if kind == "held":
        return "a held task"
    return f"{_OF_THINGS.get(kind) or LETTERS[kind]}{number}" if kind in _OF_THINGS else "the company"


def few(names: Sequence[str]) -> str:
    """Some of them, and how many more."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def skipped(left_out: Iterable[tuple[str, str]]) -> str:
    """What was not sent, and why."""
    return "skipped, nothing was sent for it: " + "; ".join(f"{tag_of(name)}: {why}" for name, why in left_out)


def _verb(found: Batch) -> str:
    verbs = list(dict.fromkeys(part.choice.verb for part in found.parts))
    return verbs[0] if len(verbs) == 1 else " / ".join(verbs[:3])


def _tags(parts: Iterable[Part]) -> str:
    return few([tag_of(part.item.id) for part in parts])
