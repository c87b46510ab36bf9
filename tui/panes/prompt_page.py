"""What the prompts' screen shows of what was read: its head, the text of what is chosen, and that text as a file."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.domain.entities import Experience
from core.domain.states import ExperienceStatus
from tui.panes import prompt_layers as layers
from tui.panes import prompt_sources as sources
from tui.panes.prompt_layers import WHOLE, Told, Versus
from tui.panes.prompt_sources import OwnTexts, Sections
from tui.prompt_text import share
from tui.text import amount, counted
from tui.widgets.prose import Block
from tui.widgets.row import Tone

PAGES = ("prompts", "own texts", "experiences", "knowledge")


@dataclass(slots=True)
class Read:
    """What was read so far. `section` is the selected section of knowledge."""

    told: Told | None = None
    versus: Versus | None = None
    texts: OwnTexts = field(default_factory=OwnTexts)
    sections: Sections = field(default_factory=Sections)
    section: Block | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """Where the operator is: the page, the selected row of its list, the selected layer, all experiences."""

    page: int
    row: str
    layer: str
    experiences: Sequence[Experience] = ()

    @property
    def experience(self) -> Experience | None:
        """The selected one."""
        return next((each for each in self.experiences if f"experience:{each.id}" == self.row), None)


def title(read: Read, at: Chosen) -> str:
    """Of the frame around the text."""
    if at.page == 1 and read.versus is not None:
        return "Differences"
    first = "The whole prompt" if at.layer == WHOLE else f"Layer {at.layer}"
    return (first, "Text", "Experience", "Section")[at.page - 1]


def head(read: Read, at: Chosen) -> tuple[str, Tone]:
    """The line above everything."""
    if at.page == 2:
        return (read.texts.counts() if read.texts.is_known else "reading the texts…"), "strong"
    if at.page == 3:
        counts = [f"{sum(each.status == one for each in at.experiences)} {one}" for one in ExperienceStatus]
        return f"Experiences: {', '.join(counts)}; kept ones are told when they fit", "strong"
    if at.page == 4:
        out = f", {counted(len(read.sections.left_out), 'file')} left out" if read.sections.left_out else ""
        known = f"Knowledge: {counted(len(read.sections.rows), 'section')}{out}"
        return (known if read.sections.is_known else "reading the knowledge…"), "strong"
    if read.versus is not None:
        return f"Before: {read.versus.before.words}. After: {read.versus.after.words}", "strong"
    if read.told is None or read.told.prompt is None:
        return (read.told.words if read.told else "reading…"), "strong"
    prompt = read.told.prompt
    used = f"{amount(prompt.tokens)} of {amount(prompt.budget)} tokens, {share(prompt.tokens, prompt.budget)} %"
    return f"{read.told.words}   {used}", "bad" if prompt.tokens > prompt.budget else "strong"


def blocks(read: Read, at: Chosen) -> tuple[list[Block], str]:
    """The text of what is chosen, and a name for it: of the same name is the same text, however it changed."""
    if at.page == 2:
        return sources.text_blocks(read.texts, at.row), f"text {at.row}"
    if at.page == 3:
        return (sources.experience_blocks(at.experience) if at.experience else []), at.row
    if at.page == 4:
        return ([read.section] if read.section else []), at.row
    if read.versus is not None:
        return layers.difference_blocks(read.versus, at.layer), f"{read.versus.id} {at.layer}"
    if read.told is None:
        return [], ""
    if read.told.prompt is None:
        return [Block(((read.told.words, "strong"),), read.told.problem, "warn")], read.told.id
    return layers.text_blocks(read.told, at.layer), f"{read.told.id} {at.layer}"


def exact(read: Read, at: Chosen) -> tuple[str, str]:
    """What is shown, exactly, and a name for it as a file; empty when nothing is."""
    if at.page == 2:
        entry = read.texts.entry(at.row)
        return ((entry.own or entry.shipped or ""), entry.file.rpartition("/")[2]) if entry else ("", "")
    if at.page == 3:
        return (at.experience.body, f"{at.experience.name_tag}.md") if at.experience else ("", "")
    if at.page == 4:
        return (read.section.body, "section.md") if read.section else ("", "")
    if read.versus is not None:
        return layers.text_of_difference(read.versus, at.layer), "prompts.diff"
    if read.told is None or read.told.prompt is None:
        return "", ""
    name = f"{read.told.id.strip(':').replace(':', '-')}.{at.layer}.md"
    return layers.text_of(read.told, at.layer), name
