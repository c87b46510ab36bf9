"""What a person reads of a wish of a run's program, and what each answer does. Pure; texts of the program are data."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from core.domain.entities import Approval
from core.domain.inbox_item import Choice, InboxItem
from core.domain.look_alikes import is_unseen, look_alikes
from core.domain.permissions import Permit, WishKind

Line = tuple[str, str]
"""A text that is not yet made fit for a screen, and its tone (a word of `tui.widgets.row.Tone`), empty for none."""

_HEARD = "what is heard cannot be taken back"
_WANTS = {
    WishKind.COMMAND: "run a command", WishKind.EDIT: "change files", WishKind.READ: "read files",
    WishKind.DELETE: "delete files", WishKind.MOVE: "move files", WishKind.FETCH: "fetch something",
    WishKind.OTHER: "do something",
}  # fmt: skip
_NAMED = 3  # look-alikes that are named
_LONG = 72  # characters of a command: a longer one is shown an argument a line


def wish(approval: Approval) -> InboxItem:
    """A permission that a run waits for: once, for the run where that can be said in a rule, or not."""
    payload = approval.payload
    run = run_tag(approval)

    def permit(key: str, verb: str, word: Permit, effect: str, note: str = "") -> Choice:
        arguments: dict[str, object] = {
            "approval": approval.id, "permit": str(word), "payload_hash": approval.payload_hash,
        }  # fmt: skip
        return Choice(key, verb, "AnswerPermission", arguments, effect, note)

    choices = [permit("a", "allow once", Permit.ONCE, f"exactly this is done, once; {_HEARD}")]
    if payload["for_run"]:
        covers = f"until {run} ends, without asking: {payload['for_run']}"
        choices.append(permit("f", "for this run", Permit.RUN, covers))
    choices.append(permit("b", "refuse", Permit.REFUSED, "its program is told why and goes on without", "note"))
    return InboxItem(
        id=f"approval:{approval.id}", entity=approval.entity, kind=approval.kind, title=approval.title,
        why=_why(approval, run), since=approval.created_at, choices=tuple(choices),
        urgent=payload["red_line"] is not None, until=approval.expires_at,
    )  # fmt: skip


def run_tag(approval: Approval) -> str:
    """The run that waits: R12."""
    return f"R{approval.entity.partition(':')[2]}"


def _why(approval: Approval, run: str) -> str:
    payload = approval.payload
    where = f" in {payload['folder']}" if payload["folder"] else ""
    line = f"; it stands at the red line {payload['red_line']['name']}" if payload["red_line"] else ""
    return f"{approval.requested_by} ({run}) wants to {_WANTS[payload['kind']]}{where}{line}; {unanswered(approval)}"


def unanswered(approval: Approval) -> str:
    """What happens if nobody answers."""
    if approval.expires_at is None:
        return "unanswered, it waits as long as its run lives; silence never approves"
    seconds = (approval.expires_at - approval.created_at) // 1000
    return f"unanswered, it is refused {seconds} s after it was asked; silence never approves"


def told(approval: Approval) -> list[Line]:
    """All that a person decides on, a line each: what is done, with what difference, and at which red line."""
    payload = approval.payload
    where = f" in {payload['folder']}" if payload["folder"] else ""
    lines: list[Line] = [(f"wants to {_WANTS[payload['kind']]}{where}", "strong")]
    if line := payload["red_line"]:
        about = f": {line['about']}" if line["about"] else ""
        lines.append((f"at the red line {line['name']}{about}", "bad"))
    lines += _command(payload["command"])
    lines += [line for file in payload["files"] for line in _file(file)]
    if payload["more_files"]:
        lines.append((f"and {payload['more_files']} more files, which are not listed here", "bad"))
    if payload["details"]:
        heading = "it says, with more arguments:" if payload.get("more_arguments") else "it says:"
        lines += [(heading, "dim"), *((f"| {line}", "") for line in payload["details"].split("\n"))]
    lines += _hidden(payload)
    if payload["cut"]:
        whole = f"; sha256 of the whole {payload['sha256'][:16]}…" if payload["sha256"] else ""
        lines.append((f"too long to be shown whole: {', '.join(payload['cut'])}{whole}", "bad"))
    if not payload["checked"]:
        lines.append(("too long to be checked against the red lines: read it with care", "warn"))
    rule = f"for this run would cover: {payload['for_run']}" if payload["for_run"] else "such an act asks each time"
    return [*lines, (rule, "dim")]


def must_be_read(approval: Approval) -> bool:
    """Whether a yes is asked about once more: at a red line, and where something is hidden or could not be shown."""
    payload = approval.payload
    return bool(payload["red_line"] or payload["cut"] or not payload["checked"]) or any(_hidden(payload))


def _command(command: str) -> Iterator[Line]:
    """Literally; a long one with an argument a line, as far as its quotes tell where one begins."""
    for number, text in enumerate(command.split("\n") if command else ()):
        sign = "$ " if number == 0 else "> "
        words = _arguments(text) if len(text) > _LONG else [text]
        for place, word in enumerate(words):
            yield (f"  {sign if place == 0 else '    '}{word}", "strong")


_ARGUMENT = re.compile(r"""(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+""")


def _arguments(text: str) -> list[str]:
    """A command's words as they stand, quotes and all; where a quote does not end, the text is one."""
    is_clear = not _ARGUMENT.sub("", text).strip()
    return (is_clear and _ARGUMENT.findall(text)) or [text]


_SIGNS = {"+": "good", "-": "bad", "@": "info"}


def _file(file: dict[str, Any]) -> Iterator[Line]:
    counted = f" (+{file['added']} −{file['removed']})" if file["difference"] else ""
    yield (f"{'new file ' if file['is_new'] else ''}{file['path']}{counted}", "strong")
    if file["difference"]:
        for line in file["difference"].split("\n"):
            yield (f"  {line}", _SIGNS.get(line[:1], ""))


def _hidden(payload: dict[str, Any]) -> Iterator[Line]:
    """What the eye does not see, or takes for something else, in what would be done."""
    acts = {
        "the command": payload["command"].replace("\n", ""),
        "the folder": payload["folder"],
        "a path": "".join(file["path"] for file in payload["files"]),
    }
    texts = {
        "the difference": "".join(file["difference"] for file in payload["files"]),
        "what it says": payload.get("details", ""),
    }
    for place, text in acts.items():
        yield from _unseen(place, text)
        if found := look_alikes(text):
            named = ", ".join(f"{char} (U+{ord(char):04X} {_name(char)})" for char in found[:_NAMED])
            more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
            yield (f"{place} holds what may look like another sign: {named}{more}", "warn")
    for place, text in texts.items():
        yield from _unseen(place, text.replace("\n", "").replace("\t", ""))


def _unseen(place: str, text: str) -> Iterator[Line]:
    if hidden := sum(is_unseen(char) for char in text):
        yield (f"{place} holds {hidden} hidden character{'s' * (hidden > 1)}, drawn as a mark", "bad")


def _name(char: str) -> str:
    return unicodedata.name(char, "without a name")
