"""What a program wants to do, from all that is known of its call: nothing that it is called with is left out."""

import posixpath
import re
from typing import Any

from core.agents.acp.session import SERVER
from core.agents.acp.tools import Tool
from core.agents.programs.scripts import mapping, word
from core.agents.runner import Change, Wish
from core.commands.registry import REGISTRY, Request
from core.domain.command_lines import as_line
from core.domain.permissions import WishKind
from core.reading.registry import READS

_KINDS = {
    "execute": WishKind.COMMAND, "edit": WishKind.EDIT, "delete": WishKind.DELETE, "move": WishKind.MOVE,
    "read": WishKind.READ, "search": WishKind.READ, "fetch": WishKind.FETCH,
}  # fmt: skip
_ON_FILES = frozenset({WishKind.EDIT, WishKind.DELETE, WishKind.MOVE, WishKind.READ})
_COMMANDS = ("command", "cmd")
_ARGUMENTS = ("args", "argv", "arguments")
_ADDRESSES = ("url", "uri")
_FOLDERS = ("cwd", "workdir")
_PATHS = (
    "path", "file", "file_path", "filePath", "filepath", "absolute_path", "notebook_path", "source", "destination",
    "from", "to", "old_path", "new_path",
)  # fmt: skip
_TOLD_APART = frozenset({"server", "tool", "arguments"})
_FRAGMENTS = ("old_string", "new_string", "old_str", "new_str", "oldText", "newText", "oldString", "newString")
# What a call says beside what it does, and does not change whom it reaches: words, patience, which part of a file.
_HARMLESS = frozenset({
    "description", "explanation", "justification", "reason", "timeout", "timeout_ms", "offset", "limit", "replace_all",
    "replaceAll",
})  # fmt: skip
# How programs call a tool of the server `opsroom`, as a whole.
_BOARD = re.compile(
    r"(?:mcp__opsroom__|opsroom_|(?:mcp\.|Tool: )?opsroom[./])(?P<last>\w+)|(?P<first>\w+) \(opsroom MCP Server\)"
)


def is_the_boards(tool: Tool) -> bool:
    """Whether it is a call of the board's own tools, which the board itself admits or refuses: by its title, of a kind
    that such calls have, about no file, and with no argument that this command or query does not know.
    """
    found = _BOARD.fullmatch(tool.title.strip())
    if found is None or tool.changes or tool.locations or tool.is_cut:
        return False
    name = found["last"] or found["first"]
    model = REGISTRY[name].model if name in REGISTRY else READS[name].model if name in READS else None
    if model is None:
        return False
    raw = mapping(tool.raw)
    if "server" in raw and tool.kind in ("execute", "other"):
        # codex-acp calls every tool of a server something that is executed, and tells server, tool and arguments apart.
        is_ours = (raw.get("server"), raw.get("tool")) == (SERVER, name) and raw.keys() <= _TOLD_APART
        return is_ours and _are_of(model, raw.get("arguments"))
    # A query may be called something that is read.
    return tool.kind in (("", "other", "read", "search") if name in READS else ("", "other")) and _are_of(
        model, tool.raw
    )


def _are_of(model: type[Request], arguments: object) -> bool:
    """Values that are wrong are the board's to refuse, so that the program learns by it."""
    if arguments in (None, "", {}):
        return True  # some ask without them
    return isinstance(arguments, dict) and arguments.keys() <= model.model_fields.keys()


def wish_of(tool: Tool, cwd: str) -> Wish:
    """What the program wants; `cwd` is where it works. Takes as long as the call is large: for a thread."""
    rest = {name: value for name, value in mapping(tool.raw).items() if value is not None}
    kind = _KINDS.get(tool.kind, WishKind.OTHER)
    command, has_more = _command(rest, kind, tool.title)
    if kind == WishKind.OTHER and command:
        kind = WishKind.COMMAND
    folder = next((word(rest.pop(name)) for name in _FOLDERS if isinstance(rest.get(name), str)), "") or cwd
    changes = tool.changes
    places = [path for path in tool.locations if _place(cwd, path) != _place(cwd, folder)]
    if kind in _ON_FILES:
        places += [rest.pop(name) for name in _PATHS if rest.get(name) and isinstance(rest[name], str)]
        changes = _with(changes, folder, places)
        places = []
    shown = {
        "",
        command,
        tool.title,
        *tool.texts,
        *(text for one in changes for text in (one.path, one.before, one.after)),
    }
    rest = {name: value for name, value in rest.items() if not _is_shown(name, value, shown, changes)}
    unread = "" if isinstance(tool.raw, dict) or tool.raw in (None, "", []) else word(tool.raw)
    has_more = has_more or bool(unread) or not all(_is_harmless(name, value) for name, value in rest.items())
    has_more = has_more or any(not _is_within(folder, path) for path in places)
    parts = ("\n".join(tool.texts), "\n".join(f"at {path}" for path in places), word(rest) if rest else "", unread)
    return Wish(tool.title, kind, folder, command, changes, "\n".join(part for part in parts if part), has_more)


def _command(rest: dict[str, Any], kind: WishKind, title: str) -> tuple[str, bool]:
    """Its command line or address, taken out of its arguments, and whether that was put together from several."""
    command = next((_line(rest.pop(name)) for name in _COMMANDS if rest.get(name)), "")
    if kind == WishKind.FETCH:
        return command or next((word(rest.pop(name)) for name in _ADDRESSES if rest.get(name)), ""), False
    if kind == WishKind.COMMAND and not command:
        return title.strip().strip("`"), False  # some tell it there alone
    if not command:
        return "", False
    lists = [rest.pop(name) for name in _ARGUMENTS if _is_words(rest.get(name))]
    return " ".join([command, *(as_line(words) for words in lists)]), bool(lists)


def _is_words(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, str) for each in value)


def _line(value: object) -> str:
    """A command line; words of a list in the quotes that a shell would need."""
    return as_line(value) if isinstance(value, list) and _is_words(value) else word(value)


def _with(changes: tuple[Change, ...], folder: str, paths: list[str]) -> tuple[Change, ...]:
    """The files that are named beside those whose difference is told are touched too."""
    known = {_place(folder, change.path) for change in changes}
    more = {_place(folder, path): path for path in paths}
    return (*changes, *(Change(path, "", "") for place, path in more.items() if place not in known))


def _place(folder: str, path: str) -> str:
    # Not normalised: `a/../b` is another file than `b` where a is a link.
    return posixpath.join(folder, path)


def _is_within(folder: str, path: str) -> bool:
    place = _place(folder, path)
    return place.startswith(f"{folder.rstrip('/')}/") and ".." not in place.split("/")


def _is_shown(name: str, value: object, shown: set[str | None], changes: tuple[Change, ...]) -> bool:
    if not isinstance(value, str):
        return False
    return value in shown or (
        name in _FRAGMENTS and any(value in (one.before or "") or value in one.after for one in changes)
    )


def _is_harmless(name: str, value: object) -> bool:
    return name in _HARMLESS and isinstance(value, str | int | float)
