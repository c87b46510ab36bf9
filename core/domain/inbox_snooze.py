"""What waits for a person, put off: until when, what cannot be, and what wakes it early. Pure; times in ms UTC."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.domain.inbox_item import InboxItem
from core.domain.inbox_marks import fingerprint
from core.domain.states import ApprovalKind

HOUR_MS = 3_600_000


class HowLong(StrEnum):
    """What a person may say."""

    HOUR = "an hour"
    TOMORROW = "until tomorrow"
    CHANGE = "until it changes"


@dataclass(frozen=True, slots=True)
class Snooze:
    """An item that is put off as it was `shown` (a fingerprint); `until` is None until it changes."""

    item: str
    shown: str
    until: int | None


@dataclass(frozen=True, slots=True)
class Sorted:
    """What is before the person, what is put off, and what came back by itself: items with the reason."""

    awake: tuple[InboxItem, ...]
    asleep: tuple[InboxItem, ...]
    back: tuple[tuple[InboxItem, str], ...]


def end_of(how_long: HowLong, now: int, tomorrow: int) -> int | None:
    """When it comes back; `tomorrow` is the next morning of the person. None: when it changes."""
    match how_long:
        case HowLong.HOUR:
            return now + HOUR_MS
        case HowLong.TOMORROW:
            return tomorrow
        case HowLong.CHANGE:
            return None


def refusal(item: InboxItem, until: int | None) -> str:
    """Why an item cannot be put off for so long; empty if it can."""
    at_red_line = item.kind == ApprovalKind.RED_LINE or (item.kind == ApprovalKind.PERMISSION and item.urgent)
    if at_red_line:
        return "a red line is not put off: its act is held"
    if item.until is not None and (until is None or until > item.until):
        if item.kind == "plan":
            return "its window ends sooner: silence lets it run"
        return "it is over by itself sooner than that"
    if item.lapses is not None and (until is None or until > item.lapses):
        return "its period ends sooner: what it holds starts"
    return ""


def sort(items: Iterable[InboxItem], snoozes: Mapping[str, Snooze], now: int) -> Sorted:
    """Who sleeps now. A snooze holds for exactly what was put off: a word of it that changes wakes it."""
    awake: list[InboxItem] = []
    asleep: list[InboxItem] = []
    back: list[tuple[InboxItem, str]] = []
    for item in items:
        snooze = snoozes.get(item.id)
        if snooze is None:
            awake.append(item)
        elif fingerprint(item) != snooze.shown:
            awake.append(item)
            back.append((item, "it changed"))
        elif snooze.until is not None and now >= snooze.until:
            awake.append(item)
            back.append((item, "its time is up"))
        else:
            asleep.append(item)
    return Sorted(tuple(awake), tuple(asleep), tuple(back))
