"""Where the domains of two works really meet: what one asks, and what the other answers. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Meeting:
    """The agent of `asks` has a question to that of `asked` (kinds of work)."""

    asks: str
    asked: str
    question: str
    answer: str


MEETINGS: tuple[Meeting, ...] = (
    Meeting(
        "documentation", "marks",
        "I read the Markdown files, you look for marks: do marks inside of documentation count in yours?",
        "They do: a mark counts in every text file, whatever its language. You need not count any.",
    ),
    Meeting(
        "duplicates", "history",
        "copies of a file often have its name: will you give whole paths, so that nobody takes one for the other?",
        "Whole paths from the root of the folder, always.",
    ),
)  # fmt: skip


def meeting_of(asks: str, question: str) -> Meeting | None:
    """The meeting whose question this is, wherever the name stands in it."""
    return next((meeting for meeting in MEETINGS if meeting.question in question and meeting.asks == asks), None)
