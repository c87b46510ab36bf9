"""Painting when a screen has come to rest: what is painted on the way nobody sees, and it took a third of a flow."""

from typing import Any

from textual.screen import Screen

_PAINT = Screen._compositor_refresh


def paint_later(screen: Screen[Any]) -> None:
    """What changed stays to be painted by `paint`; of a screen behind another one only marks are handed on."""
    if screen is not screen.app.screen:
        _PAINT(screen)
        return
    screen._dirty_widgets.clear()
    screen.app._update_mouse_over(screen)


def paint(screen: Screen[Any]) -> None:
    """Paint what changed since the last time, so that whatever breaks in it is seen."""
    if screen.is_current:
        _PAINT(screen)
