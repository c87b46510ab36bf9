"""How a component class looks, mixed into one style.

Textual resolves a colour with an alpha only against a whole widget; lines that we draw ourselves mix their own.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from rich.style import Style
from textual.color import Color
from textual.widget import Widget


class Look(NamedTuple):
    """What one component class says; None where it says nothing."""

    color: Color | None
    background: Color | None
    text: Style


LookUp = Callable[[str | None], Look]
"""Returns the look of a component by its short name, or of the whole widget for None."""


def look_of(widget: Widget, component_class: str | None) -> Look:
    """Return how a component class of a widget, or the widget itself, looks under the theme of the moment."""
    if component_class is None:
        _, _, background, color = widget.colors
        return Look(color, background, widget.text_style)
    styles = widget.get_component_styles(component_class)
    return Look(
        styles.color if styles.has_rule("color") else None,
        styles.background if styles.has_rule("background") else None,
        styles.text_style,
    )


def mixed(looks: Iterable[Look]) -> Style:
    """Lay looks over one another, the first one undermost."""
    background = Color(0, 0, 0)
    color = Color(255, 255, 255)
    text = Style()
    for look in looks:
        background = background if look.background is None else background + look.background
        color = color if look.color is None else look.color
        text += look.text
    return Style.from_color((background + color).rich_color, background.rich_color) + text
