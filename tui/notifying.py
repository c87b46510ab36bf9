"""What a person is told of, once, wherever they look: pure rules over events and the inbox (F18).

A `Watch` finds what is new since its mark, `Quiet` says when nobody is to be disturbed, and `Gathering` makes one
telling of what comes close together. Each subscriber (the room, a webhook) has its own three.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from core.domain.actors import HUMAN
from core.domain.entities import Event, Goal, Run
from core.domain.inbox import InboxItem

WAITS, DONE, FAILED, STUCK = "waits", "done", "failed", "stuck"
AWAY = "While you were away"
DISTURBING = "While you were not to be disturbed"
TOGETHER_MS = 5_000  # after a telling, what comes within this is told together
EACH_MOST = 3  # more than so many are told as one
_NAMED = 5
_HELD_MOST = 2_000  # things; beyond that they are only counted
_ENDS = {"GoalAccepted": DONE, "GoalFailed": FAILED}
ENDING_KINDS = (*_ENDS, "RunFinished")
"""The kinds of events of which some tell something by themselves (`tells`)."""
_WORDS = {"goals": "goal", "tasks": "task", "rounds": "round", "agents": "agent", "company": "company", "runs": "run"}


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing worth telling. `key` names it once and for all; `words` and `tag` may hold an agent's text."""

    key: str
    kind: str
    tag: str
    words: str
    ref: str = ""
    event: int = 0  # the event that it tells of; 0 for something that waits
    yours: bool = False  # the operator's own act: only other subscribers hear of it


@dataclass(frozen=True, slots=True)
class Telling:
    """What is told at one time: one thing, or several as one. Its texts are not yet fit for a screen."""

    title: str
    words: str
    urgent: bool
    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a subscriber was told: the last event, and what of the inbox it knows of (ids)."""

    event: int = 0
    items: frozenset[str] = frozenset()


# ------------------------------------------------------------- what is new


def tells(event: Event) -> bool:
    """Whether an event may be worth telling by itself."""
    return event.kind in _ENDS or (event.kind == "RunFinished" and event.changed.get("exit_kind") == "stuck")


class Watch:
    """What became worth telling since `mark`, each once. Without a mark it begins with what is there."""

    def __init__(self, mark: Mark | None) -> None:
        self._is_first = True  # what happened while nobody looked was not seen, whoever did it
        self._begun = mark is not None
        self._event = mark.event if mark else 0
        self._known = set(mark.items if mark else ())
        self._telling: list[Event] = []
        self._by: dict[str, str] = {}  # who acted last on what, since the last look

    @property
    def mark(self) -> Mark:
        """How far it has looked."""
        return Mark(self._event, frozenset(self._known))

    def hear(self, events: Iterable[Event]) -> None:
        """Take in what happened; what was heard before is left out."""
        for event in events:
            if event.id > self._event:
                self._event = event.id
                self._by[_about(event)] = event.actor
                if tells(event):
                    self._telling.append(event)

    def look(self, items: Iterable[InboxItem], goals: Mapping[int, Goal], runs: Mapping[int, Run]) -> list[Notice]:
        """What is new. Something that follows at once from the operator's own act is known to them already."""
        waiting = {item.id: item for item in items}
        came = [item for item in waiting.values() if item.id not in self._known] if self._begun else []
        notices = [_of_item(item) for item in came if self._is_first or not self._is_yours(item)]
        asked = {item.entity for item in waiting.values()}
        for event in self._telling:
            notice = _of_goal(event, goals) if event.kind in _ENDS else _of_run(event, runs, asked)
            if notice is not None:
                notices.append(notice)
        self._known, self._telling, self._by = set(waiting), [], {}
        self._begun, self._is_first = True, False
        return notices

    def _is_yours(self, item: InboxItem) -> bool:
        if item.id.startswith("approval:"):
            return False  # a question is always somebody else's
        actor = self._by.get(item.entity)
        return actor == HUMAN if actor is not None else bool(self._by) and set(self._by.values()) == {HUMAN}


def _about(event: Event) -> str:
    return f"{_WORDS.get(event.entity, event.entity)}:{event.entity_id}"


def _of_item(item: InboxItem) -> Notice:
    return Notice(f"item:{item.id}", WAITS, tag_of(item), f"{item.title} — {item.why}", item.entity)


def tag_of(item: InboxItem) -> str:
    """The short name of what an inbox item is about, e.g. G3 or R12."""
    kind, _, number = item.entity.partition(":")
    letter = {"goal": "G", "task": "T", "run": "R", "agent": "A"}.get(kind, "")
    return f"{letter}{number}" if letter else "the company" if kind == "company" else f"{kind} {number}"


def _of_goal(event: Event, goals: Mapping[int, Goal]) -> Notice:
    goal = goals.get(event.entity_id)
    tag, title = f"G{event.entity_id}", goal.title if goal else ""
    ended = "is done" if _ENDS[event.kind] == DONE else "has failed"
    why = f": {event.changed['reason']}" if event.changed.get("reason") else ""
    return Notice(
        f"event:{event.id}", _ENDS[event.kind], tag, f"{title} {ended}{why}".strip(), f"goal:{event.entity_id}",
        event.id, event.actor == HUMAN,
    )  # fmt: skip


def _of_run(event: Event, runs: Mapping[int, Run], asked: Collection[str]) -> Notice | None:
    """A run that went in circles; nothing where its task waits for a person: that tells it."""
    run = runs.get(event.entity_id)
    if run is not None and run.task_id is not None and f"task:{run.task_id}" in asked:
        return None
    about = f" of T{run.task_id}" if run is not None and run.task_id is not None else ""
    words = f"the run{about} went in circles and was ended: {event.changed.get('detail', '')}".rstrip(": ")
    return Notice(f"event:{event.id}", STUCK, f"R{event.entity_id}", words, f"run:{event.entity_id}", event.id)


# ------------------------------------------------------------- when nobody is to be disturbed


def minutes_of(span: str) -> tuple[int, int]:
    """`22:00-07:00` as minutes of the day. Raises ValueError in words for what is none."""
    try:
        begin, end = (_minute(each) for each in span.split("-"))
    except ValueError:
        raise ValueError('hours are written like "22:00-07:00"') from None
    if begin == end:
        raise ValueError("hours begin and end at different times")
    return begin, end


def _minute(text: str) -> int:
    hour, minute = text.strip().split(":")
    if not (hour.isascii() and hour.isdigit() and minute.isascii() and minute.isdigit() and len(minute) == 2):
        raise ValueError
    if int(hour) > 23 or int(minute) > 59:
        raise ValueError
    return int(hour) * 60 + int(minute)


def in_hours(minute: int, spans: Iterable[tuple[int, int]]) -> bool:
    """Whether a minute of the day lies in one of these spans; one may go over midnight."""
    return any(
        begin <= minute < end if begin < end else minute >= begin or minute < end for begin, end in spans
    )  # fmt: skip


# ------------------------------------------------------------- one telling of many


@dataclass(slots=True)
class Gathering:
    """Tells the first thing at once, and what comes close behind it together; while it is quiet nothing.

    `since` names the time from which the first telling is, in words, where that is one of many things.
    """

    skips_yours: bool = True
    since: str = ""
    _held: dict[str, Notice] = field(default_factory=dict)
    _more: int = 0
    _until: int = 0

    @property
    def held(self) -> int:
        """How many things are to be told later."""
        return len(self._held) + self._more

    def take(self, notices: Iterable[Notice]) -> None:
        """Keep what is to be told."""
        for notice in notices:
            if not (notice.yours and self.skips_yours) and notice.key not in self._held:
                if len(self._held) < _HELD_MOST:
                    self._held[notice.key] = notice
                else:
                    self._more += 1

    def due(self, now: int, *, quiet: bool, waiting: Collection[str]) -> list[Telling]:
        """What is to be told now (ms); what waits no more (ids of the inbox) is not told."""
        if quiet:
            self.since = self.since or DISTURBING
        if quiet or now < self._until:
            return []
        since, self.since = self.since, ""
        notices = [each for each in self._held.values() if each.kind != WAITS or each.key[5:] in waiting]
        self._held, more, self._more = {}, self._more, 0
        if not notices and not more:
            return []
        self._until = now + TOGETHER_MS
        if since or len(notices) + more > EACH_MOST:
            return [summed(notices, more, since)]
        return [one(each) for each in notices]

    def mark(self, mark: Mark) -> Mark:
        """How far was told: of what is held nothing was."""
        untold = [each.event for each in self._held.values() if each.event]
        items = {each.key[5:] for each in self._held.values() if each.kind == WAITS}
        return Mark(min([mark.event, *(event - 1 for event in untold)]), mark.items - items)


_TITLES = {WAITS: "waits for you", DONE: "is done", FAILED: "has failed", STUCK: "was stuck"}


def one(notice: Notice) -> Telling:
    """One thing."""
    tag = notice.tag[:1].upper() + notice.tag[1:]
    return Telling(f"{tag} {_TITLES[notice.kind]}", notice.words, notice.kind != DONE, (notice,))


def summed(notices: Sequence[Notice], more: int = 0, since: str = "") -> Telling:
    """Several things as one; `since` is when they came, in words."""
    count = len(notices) + more
    things = "1 thing" if count == 1 else f"{count} things"
    words = "; ".join([*_counted(notices), *([f"and {more} more"] if more else [])])
    urgent = any(each.kind != DONE for each in notices)
    return Telling(f"{since}: {things}" if since else f"{things} at once", words, urgent, tuple(notices))


def _counted(notices: Sequence[Notice]) -> Iterator[str]:
    for kind, single, several in (
        (WAITS, "waits for you", "wait for you"), (FAILED, "goal has failed", "goals have failed"),
        (STUCK, "run was stuck", "runs were stuck"), (DONE, "goal is done", "goals are done"),
    ):  # fmt: skip
        tags = list(dict.fromkeys(each.tag for each in notices if each.kind == kind))
        count = sum(each.kind == kind for each in notices)
        if count:
            named = ", ".join(tags[:_NAMED]) + (" …" if len(tags) > _NAMED else "")
            yield f"{count} {single if count == 1 else several} ({named})"


# ------------------------------------------------------------- all three for one subscriber


class Subscriber:
    """Who is told: each thing once, also over restarts if its mark is kept."""

    def __init__(self, mark: Mark | None, *, skips_yours: bool = True) -> None:
        self._watch = Watch(mark)
        self.gathering = Gathering(skips_yours, AWAY if mark is not None else "")

    @property
    def mark(self) -> Mark:
        """How far it was told."""
        return self.gathering.mark(self._watch.mark)

    def hear(self, events: Iterable[Event]) -> None:
        """Take in what happened."""
        self._watch.hear(events)

    def look(
        self, items: Sequence[InboxItem], goals: Mapping[int, Goal], runs: Mapping[int, Run], now: int, *, quiet: bool
    ) -> list[Telling]:
        """What it is to be told now (ms)."""
        self.gathering.take(self._watch.look(items, goals, runs))
        if not self.gathering.held:
            # also the end of a time in which nobody was to be disturbed, and of being away
            self.gathering.since = DISTURBING if quiet else ""
            return []
        return self.gathering.due(now, quiet=quiet, waiting={item.id for item in items})
