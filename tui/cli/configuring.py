"""`opsroom config`: the person's settings written with comments, shown, and checked. Nothing is ever written over."""

import argparse
from pathlib import Path

from core.domain.errors import Conflict
from tui.cli.exits import Exit
from tui.cli.output import note, say
from tui.keymap import all_slots, as_lines
from tui.settings import FILE, Settings, as_file, checked, config_folder, read_text


def config(arguments: argparse.Namespace) -> int:
    """Show the settings, write a file of them, or check the one that is there."""
    path = config_folder() / FILE
    act: str = arguments.act
    match act:
        case "path":
            say(str(path))
        case "write":
            _write(path)
        case "check":
            return _check(path)
        case _:
            settings, _ = checked(read_text(path), path)
            say(_text(settings).rstrip("\n"))
    return Exit.OK


def _text(settings: Settings) -> str:
    return as_file(settings, list(as_lines(all_slots(), settings.keys)))


def _write(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(_text(Settings()))
    except FileExistsError:
        raise Conflict(
            f"{path} is there already; nothing was written.", "`opsroom config show` prints it with every setting."
        ) from None
    say(f"{path}: every setting with a comment; nothing is changed by it yet.")


def _check(path: Path) -> int:
    """Settings, keys and themes. Ends with 1 when a theme is wrong; wrong settings are refused by name."""
    from tui.themes import load_themes

    text = read_text(path)
    settings, keymap = checked(text, path)
    themes, problems = load_themes(path.parent / "themes")
    if settings.theme and settings.theme not in (theme.name for theme in themes):
        note(f"opsroom: there is no theme {settings.theme!r}; there are {', '.join(theme.name for theme in themes)}.")
        return Exit.REFUSED
    for problem in problems:
        note(f"opsroom: theme {problem}")
    if problems:
        return Exit.REFUSED
    say(f"{path} is well." if text else f"There is no {path}: everything is as usual.")
    if keymap.changed:
        keys = (f"{name} {' '.join(theirs)}" for name, theirs in sorted(keymap.changed.items()))
        say(f"Other keys: {', '.join(keys)}")
    return Exit.OK
