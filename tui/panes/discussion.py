"""Comments as blocks: who, of which kind, when, what it answers, and the names in it as names.

Bodies stay as they were written; a name that an agent has stands out, one that nobody has is marked.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.company import OpenCompany
from core.domain.entities import Comment
from core.domain.mentions import PERSON, wakes
from core.domain.states import CommentKind
from tui.panes.aid import names
from tui.panes.words import clock_time
from tui.projection import Projection
from tui.text import fit, in_words, one_line, plain, wrap
from tui.widgets.prose import Block
from tui.widgets.row import Tone

TONES: dict[str, Tone] = {
    CommentKind.OBJECTION: "warn", CommentKind.QUESTION: "warn", CommentKind.HANDOFF: "good",
    CommentKind.REPORT: "good", CommentKind.DECISION: "good", CommentKind.MAIL_REQUEST: "warn",
}  # fmt: skip
QUOTED = 40
MOST_CHARACTERS = 100_000  # of one text: wrapping more would be felt at the keyboard
DOUBTFUL = 0.6
Parts = tuple[tuple[str, Tone | None], ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A text whose names stand out: `known` ones that somebody has, `unknown` ones that nobody has."""

    text: str
    known: tuple[str, ...]
    unknown: tuple[str, ...]

    def lines(self, width: int) -> Sequence[Parts]:
        """The wrapped lines, each cut where a name begins and ends."""
        text = self.text
        if len(text) > MOST_CHARACTERS:
            text = text[:MOST_CHARACTERS] + "\n…"
        wanted = "|".join(re.escape(name) for name in sorted((*self.known, *self.unknown), key=len, reverse=True))
        pattern = re.compile(rf"(?<![A-Za-z0-9_.@-])(@(?:{wanted}))(?![A-Za-z0-9_-])") if wanted else None
        return [self._cut(line, pattern) for line in wrap(plain(text).strip("\n"), width)]

    def _cut(self, line: str, pattern: "re.Pattern[str] | None") -> Parts:
        if pattern is None:
            return ((line, None),)
        pieces = pattern.split(line)
        return tuple((piece, self._tone(piece) if place % 2 else None) for place, piece in enumerate(pieces) if piece)

    def _tone(self, piece: str) -> Tone:
        return "name" if piece[1:] in self.known else "unknown"


def named(text: str, agents: Collection[str]) -> Named:
    """The text with the names in it sorted into known and unknown ones."""
    found = wakes(text, CommentKind.QUESTION, "", agents)
    person = tuple(sorted(PERSON)) if found.operator else ()
    return Named(text, (*found.names, *person), tuple(found.unknown))


async def comment_blocks(
    company: OpenCompany, view: Projection, comments: Iterable[Comment], *, plain_kind: CommentKind | None = None
) -> list[Block]:
    """The comments in the order given; what they answer is looked up. `plain_kind` needs no word of its own."""
    comments = list(comments)
    answered = await answered_by(company, comments)
    agents = frozenset(names(view))
    return [comment_block(each, agents, answered.get(each.reply_to or 0), plain_kind) for each in comments]


async def answered_by(company: OpenCompany, comments: Sequence[Comment]) -> Mapping[int, Comment]:
    """The comments that these answer, by id."""
    known = {each.id: each for each in comments}
    missing = sorted({each.reply_to for each in comments if each.reply_to} - known.keys())
    if missing:
        # numbers of our own, never a text
        where = f"id IN ({','.join(str(int(number)) for number in missing)})"
        known.update({each.id: each for each in await company.board.readers.entities(Comment, where)})
    return known


def comment_block(
    comment: Comment,
    agents: Collection[str],
    answers: Comment | None = None,
    plain_kind: CommentKind | None = None,
) -> Block:
    """One comment."""
    tone = TONES.get(comment.kind)
    word = "" if comment.kind == plain_kind else in_words(comment.kind)
    kind: tuple[str, Tone] | str = (word, tone or "info") if word else ""
    run: tuple[str, Tone] | str = (f"R{comment.run_id}", "dim") if comment.run_id else ""
    # A low one is a reason to look deeper, never a gate (D-07).
    sure: tuple[str, Tone] | str = ""
    if comment.confidence is not None:
        sure = (f"confidence {comment.confidence:g}", "warn" if comment.confidence < DOUBTFUL else "dim")
    quoted: tuple[str, Tone] | str = ""
    if answers is not None:
        quoted = (f"↳ {person(answers.author)}: {fit(one_line(answers.body), QUOTED)}", "dim")
    heading = (person(comment.author), kind, (clock_time(comment.created_at), "dim"), run, sure, quoted)
    cells = tuple(cell for cell in heading if cell)
    return Block(cells, "", tone, named(comment.body, agents))  # type: ignore[arg-type]


def person(author: str) -> str:
    """An author as the room names it."""
    return "you" if author in PERSON else author
