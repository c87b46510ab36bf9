"""A prompt on the screen: its layers as rows, and the text of one with the values of others set off."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.prompting.comparing import LayerDifference
from core.prompting.prompt import Layer, Prompt
from tui.prompt_text import ABOUT, Part, bar_text, left_out_words, parts_of, share
from tui.text import amount, counted, plain, wrap
from tui.widgets.prose import Block
from tui.widgets.row import Tone
from tui.widgets.rows import Cell, Column, Row

BAR = 10  # cells
LAYERS = (
    Column("layer", width=6),
    Column("about", min_width=16),
    Column("tokens", width=6, align="right"),
    Column("", width=5, align="right"),
    Column("budget", width=BAR, drop_below=50),
    Column("cut", width=4, align="right"),
)
TITLES = tuple(column.title for column in LAYERS)
OF_DIFFERENCES = ("layer", "about", "tokens", "", "lines", "")
WHOLE = "all"
VALUE, WORDS = "┃ ", ""
MOST_CHARACTERS = 100_000  # of one layer: wrapping more would be felt at the keyboard
Line = tuple[tuple[str, Tone | None], ...]


@dataclass(frozen=True, slots=True)
class Told:
    """A prompt and whose it is; without a prompt `problem` says why there is none.

    `is_past` when it was read from the run's file, and `is_as_recorded` whether the board's hash says the same.
    """

    id: str
    words: str
    prompt: Prompt | None = None
    problem: str = ""
    is_past: bool = False
    is_as_recorded: bool = True

    @property
    def problems(self) -> tuple[str, ...]:
        """What a person is told about it."""
        found = (
            () if self.is_as_recorded else ("The kept file is not what was told: the board has another hash of it.",)
        )
        return (*found, *((self.problem,) if self.problem else ()), *(self.prompt.warnings if self.prompt else ()))


def is_same(one: Told | None, other: Told) -> bool:
    """Whether both tell the same of the same, but for the nonce, which is drawn anew each time."""
    if one is None or one.prompt is None or other.prompt is None:
        return False
    same = (one.id, one.words, one.is_as_recorded) == (other.id, other.words, other.is_as_recorded)
    return same and one.prompt.hash == other.prompt.hash and one.prompt.warnings == other.prompt.warnings


@dataclass(frozen=True, slots=True)
class Versus:
    """Two prompts side by side."""

    before: Told
    after: Told
    layers: tuple[LayerDifference, ...]

    @property
    def id(self) -> str:
        """Other prompts, another id."""
        return f"{self.before.id} {self.after.id}"


# ------------------------------------------------------------- the list of layers


def layer_rows(prompt: Prompt) -> list[Row]:
    """A row a layer, and one for all of it."""
    rows = [_row(str(each.name), each, prompt.budget) for each in prompt.layers]
    left = sum(one.count for each in prompt.layers for one in each.left_out)
    tone: Tone = "bad" if prompt.tokens > prompt.budget else "strong"
    return [*rows, Row(WHOLE, _cells(WHOLE, "the whole prompt", prompt.tokens, prompt.budget, left, tone))]


def _row(name: str, layer: Layer, budget: int) -> Row:
    left = sum(one.count for one in layer.left_out)
    return Row(name, _cells(name, ABOUT[layer.name], layer.tokens, budget, left, "info"))


def _cells(name: str, about: str, tokens: int, budget: int, left: int, tone: Tone) -> tuple[Cell, ...]:
    cut: Cell = (f"−{left}" if left < 1000 else "−1k+", "warn") if left else ""
    return (
        (name, "strong"), about, amount(tokens), (f"{share(tokens, budget)} %", "dim"),
        (bar_text(tokens, budget, BAR), tone), cut,
    )  # fmt: skip


def difference_rows(versus: Versus) -> list[Row]:
    """A row a layer: how many lines came and went."""
    rows = []
    for each in versus.layers:
        before, after = each.before or 0, each.after or 0
        words: Cell = (f"+{each.added} −{each.removed}", "warn") if each.lines else ("the same", "dim")
        if each.before is None or each.after is None:
            words = ("only new", "good") if each.before is None else ("only old", "bad")
        cells: tuple[Cell, ...] = (
            (str(each.name), "strong"), ABOUT[each.name], amount(after), (f"{after - before:+}", "dim"), words, "",
        )  # fmt: skip
        rows.append(Row(str(each.name), cells, muted=not each.lines))
    totals = [told.prompt.tokens if told.prompt else 0 for told in (versus.before, versus.after)]
    whole: tuple[Cell, ...] = (
        (WHOLE, "strong"), "every difference", amount(totals[1]), (f"{totals[1] - totals[0]:+}", "dim"), "", "",
    )  # fmt: skip
    return [*rows, Row(WHOLE, whole)]


# ------------------------------------------------------------- the text


def text_blocks(told: Told, name: str) -> list[Block]:
    """One layer, or all of them, as the agent reads it."""
    prompt = told.prompt
    if prompt is None:
        return []
    blocks = []
    if name == WHOLE:
        used = f"{amount(prompt.tokens)} of {amount(prompt.budget)} tokens, {share(prompt.tokens, prompt.budget)} %"
        facts = [used, f"language {prompt.locale} · hash {prompt.hash[:12]}"]
        facts += [f"experiences: {', '.join(f'E{each}' for each in prompt.experiences)}"] if prompt.experiences else []
        blocks.append(Block(((told.words, "strong"),), "\n".join(facts), "info"))
    if told.problems:
        blocks.append(Block((("Mind", "warn"),), "\n".join(told.problems), "warn"))
    for layer in prompt.layers:
        if name in (WHOLE, layer.name):
            blocks += _of_layer(layer, prompt)
    return blocks


def _of_layer(layer: Layer, prompt: Prompt) -> Iterator[Block]:
    percent = f"{share(layer.tokens, prompt.budget)} % of the budget"
    heading: tuple[Cell, ...] = (
        (f"{layer.name} {ABOUT[layer.name]}", "strong"), (f"{amount(layer.tokens)} tokens, {percent}", "dim"),
    )  # fmt: skip
    yield Block(heading, "", "dim", PromptText(parts_of(layer.text, prompt.nonce), prompt.nonce))
    if layer.left_out:
        left = "\n".join(left_out_words(one) for one in layer.left_out)
        yield Block(((f"Left out of {layer.name}, and the call that reads it", "warn"),), left, "warn")
    yield Block(((f"{layer.name} is made from", "dim"),), "\n".join(layer.sources), "dim")


def difference_blocks(versus: Versus, name: str) -> list[Block]:
    """What came and went in one layer, or in all that differ."""
    blocks = []
    if name == WHOLE:
        body = f"− {versus.before.words}\n+ {versus.after.words}"
        blocks.append(Block((("Compared", "strong"),), body, "info"))
    for each in versus.layers:
        if name == each.name or (name == WHOLE and each.lines):
            sizes = " → ".join("none" if size is None else amount(size) for size in (each.before, each.after))
            heading: tuple[Cell, ...] = ((f"{each.name} {ABOUT[each.name]}", "strong"), (f"{sizes} tokens", "dim"))
            blocks.append(Block(heading, "" if each.lines else "the same in both", "dim", Unified(each.lines)))
    if name == WHOLE and not any(each.lines for each in versus.layers):
        blocks.append(Block((("Nothing differs", "good"),), "Word for word the same."))
    return blocks


@dataclass(frozen=True, slots=True)
class PromptText:
    """The template's own words, and between the lines of their fences the values that others wrote, behind a bar."""

    parts: tuple[Part, ...]
    nonce: str

    def lines(self, width: int) -> Sequence[Line]:
        """As many lines as it takes; what is too long is counted."""
        found: list[Line] = []
        room = MOST_CHARACTERS
        for part in self.parts:
            text, more = plain(part.text[: max(room, 0)]), len(part.text) - max(room, 0)
            room -= len(part.text)
            if part.label is None:
                found += [((each, "strong" if each.startswith("#") else None),) for each in wrap(text, width)]
            else:
                found.append((_fence(f"<data {self.nonce} {part.label}".rstrip() + ">", width),))
                found += [((VALUE, "info"), (each, None)) for each in wrap(text, max(2, width - len(VALUE)))]
                found.append((_fence(f"</data {self.nonce}>", width),))
            if more > 0:
                found.append(((f"… {amount(more)} characters more; o opens all of it", "warn"),))
                break
        return found


def _fence(text: str, width: int) -> tuple[str, Tone]:
    return plain(text)[:width], "dim"


@dataclass(frozen=True, slots=True)
class Unified:
    """Lines as of `diff -u`, told apart by their first letter and by their tone."""

    differences: tuple[str, ...]

    def lines(self, width: int) -> Sequence[Line]:
        """Each line wrapped; what is too long is counted."""
        found: list[Line] = []
        room = MOST_CHARACTERS
        for place, each in enumerate(self.differences):
            if (room := room - len(each)) < 0:
                left = len(self.differences) - place
                return [*found, ((f"… {counted(left, 'line')} more; o opens all of it", "warn"),)]
            tone: Tone | None = "good" if each.startswith("+") else "bad" if each.startswith("-") else None
            tone = "dim" if each.startswith("@@") else tone
            sign, rest = (each[:1], each[1:]) if tone != "dim" else ("", each)
            for line, text in enumerate(wrap(plain(rest), max(2, width - 1))):
                found.append((((sign if not line else " ") + text if sign else text, tone),))
        return found


def text_of(told: Told, name: str) -> str:
    """The exact text of a layer, or of the whole prompt."""
    if told.prompt is None:
        return ""
    return told.prompt.text if name == WHOLE else next((x.text for x in told.prompt.layers if x.name == name), "")


def text_of_difference(versus: Versus, name: str) -> str:
    """The differences as a patch would have them."""
    lines = [f"--- {versus.before.words}", f"+++ {versus.after.words}"]
    for each in versus.layers:
        if each.lines and name in (WHOLE, each.name):
            lines += [f"# {each.name} {ABOUT[each.name]}", *each.lines]
    return "\n".join(lines)
