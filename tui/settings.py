"""The person's own settings: `config.toml` in the config folder, checked whole, each fault with its line and column.

A setting is a field of `Settings`; its description is its comment in the file that `opsroom config` writes.
"""

import ipaddress
import json
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from core.domain.errors import Invalid
from core.domain.wrong_settings import wrong_setting
from tui.keymap import Keymap, keymap_of
from tui.notifying import minutes_of

FILE = "config.toml"
_MOST_BYTES = 256 * 1024
_MOST_LINES = 500  # in a longer file a fault is told without its place


class NotifySettings(BaseModel):
    """How a person is told of what waits for them, and when not."""

    model_config = ConfigDict(extra="forbid")
    toasts: bool = Field(True, description="Shown in a corner of the room for some seconds.")
    bell: bool = Field(True, description="The terminal's bell rings for what waits for you or went wrong.")
    terminal: Literal["auto", "off", "osc9", "osc777"] = Field(
        "auto",
        description="A notification of the desktop by way of the terminal: auto (where it is known to show them), off,"
        " osc9 or osc777. In tmux only by name, and with its option allow-passthrough.",
    )
    webhook: str = Field(
        "",
        max_length=2000,
        description="An address that gets each thing as JSON: https, or http on this machine; empty: none. Titles and"
        " reasons from the board are sent there.",
    )
    quiet_hours: list[str] = Field(
        default_factory=list,
        max_length=20,
        description='When you are not to be disturbed, e.g. ["22:00-07:00"] by the clock here; after it all is told as'
        " one.",
    )

    @field_validator("webhook")
    @classmethod
    def _is_safe(cls, url: str) -> str:
        problem = webhook_problem(url) if url else ""
        if problem:
            raise PydanticCustomError("webhook", "{problem}", {"problem": problem})
        return url

    @field_validator("quiet_hours")
    @classmethod
    def _are_hours(cls, spans: list[str]) -> list[str]:
        for span in spans:
            try:
                minutes_of(span)
            except ValueError as error:
                raise PydanticCustomError("hours", "{problem}", {"problem": str(error)}) from None
        return spans


def webhook_problem(url: str) -> str:
    """Why nothing may be sent to an address; empty for one that is fine. The address itself is not repeated."""
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        return "it is no address"
    if not url.isascii() or not url.isprintable() or " " in url or parts.scheme not in ("http", "https") or not host:
        return "it is an address that begins with https://, or with http:// on this machine"
    if parts.username is not None or parts.password is not None:
        return "no name or password stands in it"
    if parts.scheme == "http" and not is_loopback(host):
        return "an address on another machine begins with https://"
    return ""


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its name or number."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class Settings(BaseModel):
    """All of `config.toml`; without the file everything is as the defaults say."""

    model_config = ConfigDict(extra="forbid")
    theme: str = Field(
        "", max_length=100, description="The theme the room starts with; empty: the one that was chosen last."
    )
    remember: bool = Field(True, description="Whether mode, layout and theme are remembered until the next start.")
    when_terminal_closes: Literal["stop", "go on"] = Field(
        "stop",
        description="What a company does when the terminal of its room is closed: stop (its runs are ended, their"
        " tasks go back), or go on without a room until `opsroom stop`.",
    )
    notify: NotifySettings = Field(
        default_factory=NotifySettings, description="How you are told of what waits for you, ended or went wrong."
    )
    keys: dict[str, dict[str, str | list[str]]] = Field(
        default_factory=dict,
        description="Keys by place and action; several as a list. A key that another action has is refused.",
    )


def config_folder() -> Path:
    """Where settings and themes of this person lie, e.g. `~/.config/opsroom` (XDG_CONFIG_HOME)."""
    return Path(platformdirs.user_config_dir("opsroom"))


def read_text(path: Path) -> str:
    """The text of a settings file; empty where there is none. Raises Invalid where it cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise Invalid(f"{path} is longer than {_MOST_BYTES // 1024} KiB.", "Settings are a few lines.")
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.", "Check its owner and mode.") from None
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is no UTF-8 text: byte {error.start} is not.", "Save it as UTF-8.") from None


def parse(text: str, path: Path) -> Settings:
    """The settings that a text holds. Raises Invalid, which names the file, and line and column of each fault."""
    try:
        return Settings.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise Invalid(f"{path} is not valid TOML: {error}.", "Mend that line; nothing was changed.") from None
    except RecursionError:
        raise Invalid(f"{path} is nested too deeply.", "Settings are a few lines; nothing was changed.") from None
    except ValidationError as error:
        faults = "; ".join(_faults(text, error))
        raise Invalid(f"{path} has wrong settings: {faults}.", "Mend them; nothing was changed.") from None


def checked(text: str, path: Path) -> tuple[Settings, Keymap]:
    """The settings of a text and the keys that they ask for. Raises Invalid as `parse` does, also for wrong keys."""
    settings = parse(text, path)
    keymap, faults = keymap_of(settings.keys)
    if faults:
        told = (f"{where(text, ('keys', *fault.at))}{'.'.join(('keys', *fault.at))}: {fault.why}" for fault in faults)
        raise Invalid(f"{path} has wrong keys: {'; '.join(told)}.", "Mend them; nothing was changed.")
    return settings, keymap


def read_settings(path: Path) -> tuple[Settings, Keymap]:
    """The settings of a file and their keys; the defaults where there is none. Raises Invalid as `checked` does."""
    return checked(read_text(path), path)


def _faults(text: str, error: ValidationError) -> Iterator[str]:
    told: set[str] = set()
    for item in error.errors():
        # of a value that may be of two kinds, pydantic tells both, and ends their places with the kind
        keys = tuple(key for key in item["loc"] if key not in ("str", "list[str]"))
        name = ".".join(map(str, keys))
        if name not in told and not any(name.startswith(f"{other}.") for other in told):
            yield f"{where(text, keys)}{name}: {wrong_setting(item)}"
        told.add(name)


def where(text: str, keys: Sequence[str | int]) -> str:
    """`line 3, column 1: ` for the setting with these keys; empty when its place is not known."""
    place = place_of(text, keys)
    return f"line {place[0]}, column {place[1]}: " if place else ""


def place_of(text: str, keys: Sequence[str | int]) -> tuple[int, int] | None:
    """Line and column, from 1, where the setting with these keys is written; None where that is not known.

    The first lines that are TOML by themselves and hold the setting end with the statement that brings it.
    """
    lines = text.split("\n")
    if len(lines) > _MOST_LINES:
        return None
    whole = 0  # lines of the last beginning that is TOML by itself
    for count in range(1, len(lines) + 1):
        try:
            data = tomllib.loads("\n".join(lines[:count]))
        except tomllib.TOMLDecodeError:
            continue
        if _holds(data, keys):
            return _column(lines[whole:count], whole, keys)
        whole = count
    return None


def _holds(data: Any, keys: Sequence[str | int]) -> bool:
    for key in keys:
        is_there = key in data if isinstance(data, dict) else isinstance(data, list) and key in range(len(data))
        if is_there:
            data = data[key]
        else:
            return False
    return True


def _column(statement: Sequence[str], before: int, keys: Sequence[str | int]) -> tuple[int, int]:
    names = [key for key in keys if isinstance(key, str)]
    for name in reversed(names):
        for number, line in enumerate(statement):
            if (found := line.partition("#")[0].find(name)) >= 0:
                return before + number + 1, found + 1
    first = statement[0]
    return before + 1, len(first) - len(first.lstrip()) + 1


# ------------------------------------------------------------- the file with its comments


def as_file(settings: Settings, keys: Sequence[str] = ()) -> str:
    """The settings as a file with a comment for each; what is as usual is itself a comment. `keys`: lines of keys."""
    lines = [
        "# Settings of Opsroom. Lines that begin with # are comments: take the sign away to change a setting.",
        "# `opsroom config check` tells what is wrong in this file.",
        *_fields(settings, ()),
        "",
        f"# {Settings.model_fields['keys'].description}",
        *keys,
    ]
    return "\n".join(lines) + "\n"


def _fields(model: BaseModel, path: tuple[str, ...]) -> Iterator[str]:
    """Plain settings first, tables after them: as TOML has it."""
    tables: list[tuple[str, FieldInfo, BaseModel]] = []
    for name, info in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            tables.append((name, info, value))
        elif (*path, name) != ("keys",):
            yield ""
            yield f"# {info.description}"
            mark = "" if name in model.model_fields_set else "# "
            yield f"{mark}{name} = {json.dumps(value, ensure_ascii=False)}"
    for name, info, value in tables:
        yield ""
        yield f"# {info.description}"
        yield f"[{'.'.join((*path, name))}]"
        yield from _fields(value, (*path, name))
