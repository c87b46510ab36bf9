"""What a run's program wants to do, drawn: its command literally, its difference in colours, nothing of it acting."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.entities import Approval
from core.domain.permission_items import Line, told
from core.domain.states import ApprovalKind
from tui.text import one_line, wrap
from tui.widgets.row import TONES, Tone


@dataclass(frozen=True, slots=True)
class WishDrawing:
    """The lines of a wish, each in its tone."""

    told: tuple[Line, ...]

    def lines(self, width: int) -> Sequence[tuple[tuple[str, Tone | None], ...]]:
        """Wrapped for so many cells; what is indented stays so."""
        found: list[tuple[tuple[str, Tone | None], ...]] = []
        for text, tone in self.told:
            text = one_line(text)
            indent = text[: len(text) - len(text.lstrip(" "))][: width // 2]
            rows = wrap(text[len(indent) :], max(2, width - len(indent))) or [""]
            found += [((indent + row, _tone(tone)),) for row in rows]
        return found


def _tone(word: str) -> Tone | None:
    return next((tone for tone in TONES if tone == word), None)


def asks_for_run(approval: Approval) -> bool:
    """Whether a run waits for this permission."""
    return approval.kind == ApprovalKind.PERMISSION and approval.entity.startswith("run:")


def drawing(approval: Approval) -> WishDrawing:
    """A permission as it is decided on."""
    return WishDrawing(tuple(told(approval)))


def as_text(approval: Approval) -> list[str]:
    """The same as lines of plain text: what is quoted makes no line of its own."""
    return [one_line(text) for text, _ in told(approval)]
