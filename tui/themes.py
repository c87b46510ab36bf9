"""Theme files read and checked: a theme is either whole, or every fault of its file is named.

The files that come with the room are in the package `themes`; an operator's own folder may follow.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable

from textual.color import Color, ColorParseError
from textual.theme import BUILTIN_THEMES, Theme

DEFAULT_THEME = "opsroom-dark"

NEEDED = ("primary", "warning", "error", "success", "foreground", "background", "surface", "panel")
_MOST_BYTES = 64 * 1024
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,59}")
COLOURS = (*NEEDED, "secondary", "accent")


@dataclass(frozen=True, slots=True)
class ThemeProblem:
    """One fault of a theme file, for a person to mend."""

    file: str
    key: str
    value: str
    why: str

    def __str__(self) -> str:
        """The fault in one line."""
        where = f"{self.file}: {self.key}" if self.key else self.file
        return f"{where} = {self.value!r}: {self.why}" if self.value else f"{where}: {self.why}"


def load_themes(*folders: Traversable) -> tuple[list[Theme], list[ThemeProblem]]:
    """Return the room's themes and those of the folders, and every problem met; a faulty theme is left out."""
    themes: dict[str, Theme] = {}
    problems: list[ThemeProblem] = []
    for folder in (resources.files("themes"), *folders):
        try:
            files = [entry for entry in folder.iterdir() if entry.name.endswith(".toml")] if folder.is_dir() else []
        except OSError as error:
            problems.append(ThemeProblem(folder.name, "", "", f"cannot be read: {error.strerror}"))
            continue
        for file in sorted(files, key=lambda entry: entry.name):
            theme, faults = read_theme(file)
            if theme is not None and theme.name in themes:
                faults = [ThemeProblem(file.name, "name", theme.name, "another theme has this name")]
            elif theme is not None:
                themes[theme.name] = theme
            problems += faults
    return list(themes.values()), problems


def read_theme(file: Traversable) -> tuple[Theme | None, list[ThemeProblem]]:
    """Read one theme file: the theme, or all that is wrong with it."""
    try:
        with file.open("rb") as opened:
            read = opened.read(_MOST_BYTES + 1)
        if len(read) > _MOST_BYTES:
            return None, [ThemeProblem(file.name, "", "", f"is longer than {_MOST_BYTES // 1024} KiB")]
        data: dict[str, object] = tomllib.loads(read.decode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        return None, [ThemeProblem(file.name, "", "", f"cannot be read: {error}")]
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return None, [ThemeProblem(file.name, "", "", f"is not TOML: {error}")]
    problems = [ThemeProblem(file.name, *fault) for fault in _faults(data)]
    return (None, problems) if problems else (_theme(data), [])


def usable(theme: Theme, no_color: bool) -> bool:
    """Whether a theme can be read here: the terminal's own colours are lost under NO_COLOR, black on black."""
    return not (no_color and (theme.ansi or theme.name.startswith("ansi-")))


def _theme(data: dict[str, object]) -> Theme:
    colours = {key: str(value) for key, value in data.items() if key in COLOURS}
    variables = data.get("variables")
    # without these the library's own styles cannot be read
    usual = dict(BUILTIN_THEMES["ansi-dark"].variables) if data.get("ansi") is True else {}
    return Theme(
        name=str(data["name"]),
        dark=data.get("dark") is not False,
        ansi=data.get("ansi") is True,
        variables=usual | ({key: str(v) for key, v in variables.items()} if isinstance(variables, dict) else {}),
        primary=colours["primary"],
        secondary=colours.get("secondary"),
        accent=colours.get("accent"),
        success=colours["success"],
        warning=colours["warning"],
        error=colours["error"],
        foreground=colours["foreground"],
        background=colours["background"],
        surface=colours["surface"],
        panel=colours["panel"],
    )


def _faults(data: dict[str, object]) -> Iterator[tuple[str, str, str]]:
    """Yield key, value and reason of everything wrong in a theme's data."""
    name = data.get("name")
    if not isinstance(name, str) or not name.strip():
        yield "name", _shown(name), "a theme needs a name"
    elif _NAME.fullmatch(name) is None:
        yield "name", _shown(name), "a name has letters, digits, spaces and _ . - and at most 60 of them"
    if not isinstance(data.get("dark", True), bool):
        yield "dark", _shown(data["dark"]), "is either true or false"
    if not isinstance(data.get("ansi", False), bool):
        yield "ansi", _shown(data["ansi"]), "is either true or false"
    ansi = data.get("ansi") is True
    for key in NEEDED:
        if key not in data:
            yield key, "", "is missing"
    for key, value in data.items():
        if key in COLOURS:
            yield from _colour_faults(key, value, ansi)
        elif key not in ("name", "dark", "ansi", "variables"):
            yield key, _shown(value), f"is unknown; a theme has name, dark, ansi, variables, {', '.join(COLOURS)}"
    variables = data.get("variables", {})
    if not isinstance(variables, dict):
        yield "variables", _shown(variables), "is a table of names and colours"
        return
    for key, value in variables.items():
        if not key.endswith("-style"):
            yield from _colour_faults(f"variables.{key}", value, ansi)
        elif not isinstance(value, str):
            yield f"variables.{key}", _shown(value), "a text style is a string"


def _colour_faults(key: str, value: object, ansi: bool) -> Iterator[tuple[str, str, str]]:
    if not isinstance(value, str):
        yield key, _shown(value), "a colour is a string, like '#5aa9e6'"
        return
    colour, _, alpha = value.partition(" ")
    if alpha and not (alpha.endswith("%") and alpha[:-1].isdecimal()):
        yield key, value, "after the colour only an opacity may follow, like '35%'"
    try:
        parsed = Color.parse(colour)
    except ColorParseError:
        yield key, value, "is no colour; write it like '#5aa9e6'"
    else:
        if parsed.ansi is not None and not ansi:
            yield key, value, "the terminal's own colours belong to a theme that says ansi = true"


def _shown(value: object) -> str:
    return "" if value is None else str(value)[:200]
