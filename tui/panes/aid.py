"""Helps who writes a comment: whom it will wake, which names complete, why it cannot be sent. All from memory."""

from collections.abc import Sequence

from textual.content import Content

from core.domain.actors import HUMAN
from core.domain.entities import AgentRecord, Goal
from core.domain.errors import Invalid
from core.domain.mentions import Wakes, by_role, wakes
from core.domain.states import AgentStatus, CommentKind
from tui.letters import SLASHES, Letter, Past, complete, read_letter, unknown_name
from tui.panes.words import line, said
from tui.projection import Projection

MAIL = frozenset({CommentKind.MAIL_REQUEST, CommentKind.MAIL_INFORM})
EMPTY = f"@name wakes an agent · kinds: {' '.join(SLASHES)}"
SPOKEN = {CommentKind.DIALOGUE: "comment", CommentKind.MAIL_REQUEST: "mail", CommentKind.MAIL_INFORM: "mail"}


def names(view: Projection) -> list[str]:
    """The short names of all agents that are here."""
    return [agent.slug for agent in view.tables.all(AgentRecord) if agent.status != AgentStatus.TERMINATED]


class CommentAid:
    """Knows the board in memory and what the text is about."""

    def __init__(self, view: Projection, past: Past, *, goal: int | None = None, placeholder: str) -> None:
        self._view = view
        self._goal = goal
        self.past = past
        self.placeholder = placeholder

    def preview(self, text: str) -> Content:
        """Whom the text will wake, and the names that nobody has."""
        if not text.strip():
            return said(EMPTY, "dim")
        try:
            letter = read_letter(text)
        except Invalid as problem:
            return said(f"{problem.message} {problem.hint}", "bad")
        about = next((meaning for kind, meaning in SLASHES.values() if kind == letter.kind), "")
        found = self._called(letter)
        parts = [self._wakes(letter, found)]
        parts += [said(unknown_name(name, nearest), "warn") for name, nearest in found.unknown.items()]
        if about and letter.kind != CommentKind.NOTE:
            parts.append(said(about, "dim"))
        return line(*parts, gap=" · ")

    def _called(self, letter: Letter) -> Wakes:
        staff = by_role(self._view.tables.all(AgentRecord))
        return wakes(letter.body, letter.kind, HUMAN, names(self._view), by_role=staff)

    def _wakes(self, letter: Letter, found: Wakes) -> Content:
        if letter.kind == CommentKind.NOTE:
            return said("/note wakes nobody", "dim")
        woken = list(found.names)
        if self._asks_the_coordinator(letter):
            return said(f"the coordinator answers{', wakes: ' + ', '.join(woken) if woken else ''}", "info")
        return said(f"wakes: {', '.join(woken)}", "info") if woken else said("wakes nobody", "dim")

    def _asks_the_coordinator(self, letter: Letter) -> bool:
        goal = self._view.tables.get(Goal, self._goal)
        return goal is not None and goal.exploring and letter.kind == CommentKind.DIALOGUE

    def refusal(self, text: str) -> str:
        """Why the text cannot be sent."""
        try:
            letter = read_letter(text)
        except Invalid as problem:
            return f"{problem.message} {problem.hint}"
        if not letter.body:
            return "There is no text after the kind."
        found = self._called(letter)
        if letter.kind in MAIL and not found.names:
            return "Mail needs somebody to go to: write @name."
        return ""

    def complete(self, text: str, at: int) -> tuple[str, int, Content | None]:
        """Names after @, kinds after / at the start."""
        done, cursor, others = complete(text, at, names(self._view))
        return done, cursor, self._offer(others) if others else None

    def _offer(self, others: Sequence[str]) -> Content:
        return said("or: " + "  ".join(others), "info")
