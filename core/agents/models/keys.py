"""Where keys come from, and how they stay out of everything that is written or shown."""

import base64
import functools
import hashlib
import importlib
import json
import os
import re
import stat
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from core.domain.errors import Forbidden, Invalid, NotFound

REMOVED = "[secret removed]"
_SHORTEST = 8  # what is shorter would be found in innocent words
_PART_SHORTEST = 16  # of a part of a secret
_FILE_BYTES = 16 * 1024
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_MIXED = re.compile(r"(?=.*[a-z])(?=.*[0-9]).*")
_SOURCES = "Name its source as env:NAME, file:PATH or keyring:SERVICE/USER."


class Secret:
    """A key that shows itself only to who asks for it by `reveal`."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The key itself; for the header of a request and nothing else."""
        return self._value

    @property
    def fingerprint(self) -> str:
        """Tells two keys apart without telling either."""
        return hashlib.sha256(self._value.encode()).hexdigest()[:12]

    def __repr__(self) -> str:
        return "Secret(…)"

    def __str__(self) -> str:
        return REMOVED

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> str:
        raise TypeError("a secret is not written anywhere")


def key_from(source: str, environment: Mapping[str, str] = os.environ) -> Secret:
    """The key that `env:NAME`, `file:PATH` or `keyring:SERVICE/USER` gives. Blocks (files, keyring); not for the loop.

    Raises Invalid (no such kind of source, or what it gives is no key), NotFound (nothing there), and Forbidden (a file
    that others can read). No message ever holds the key, nor a source that may be one.
    """
    if not is_source(source):
        # It may be the key itself, put where its source belongs: it is not repeated.
        raise Invalid("A key stands in no setting; only where it comes from does.", _SOURCES)
    kind, _, name = source.partition(":")
    if kind == "env":
        value = environment.get(name, "").strip()
        if not value:
            raise NotFound(f"The environment variable {name} holds no key.", "Set it before Opsroom starts.")
        return _checked(value, f"The environment variable {name}")
    if kind == "file":
        return _checked(_read(name), f"The file {name}")
    return _checked(_from_keyring(*name.split("/", 1)), f"The keyring's entry {name}")


def is_source(source: str) -> bool:
    """Whether it says where a key comes from, and is not a key itself behind the word for its source."""
    kind, _, name = source.partition(":")
    match kind:
        case "env":
            # Variables are not written in both cases with digits between, as keys are.
            return bool(_VARIABLE.fullmatch(name)) and not (len(name) >= 20 and _MIXED.fullmatch(name))
        case "file":
            return bool(name) and ("/" in name or "." in name or len(name) < 20)
        case "keyring":
            return "/" in name
    return False


def scrub(text: str, secrets: Iterable[Secret]) -> str:
    """The text without the secrets, also where they stand as JSON, in an address or in base64, or by their lines.

    Give it whole texts: a secret torn over two pieces is not found.
    """
    for value in sorted((secret.reveal() for secret in secrets), key=len, reverse=True):
        if len(value) < _SHORTEST:
            continue
        for form in _forms(value):
            text = text.replace(form, REMOVED)
    return text


@functools.lru_cache(maxsize=64)
def _forms(value: str) -> tuple[str, ...]:
    """How a secret may stand in a text, the longest first: also in JSON that is a text of JSON, and its parts alone."""
    forms = {base64.b64encode(value.encode(errors="surrogateescape")).decode()}
    for part in {value, *_parts(value)}:
        once = json.dumps(part)[1:-1]
        forms |= {part, once, json.dumps(once)[1:-1], quote(part, safe="", errors="surrogateescape")}
    return tuple(sorted(forms, key=len, reverse=True))


def _parts(value: str) -> set[str]:
    """The lines of a secret that has several, and the texts in one that is JSON: whoever prints it prints those."""
    texts = [value]
    if value.lstrip().startswith("{"):
        with suppress(ValueError, RecursionError):
            texts += _texts(json.loads(value))
    lines = {line.strip() for text in texts for line in text.splitlines()} - {value}
    # The frame of a key, and where it is used, are no secrets.
    return {
        line for line in lines if len(line) >= _PART_SHORTEST and not line.startswith("-----") and "://" not in line
    }


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in inner for text in _texts(part)]


def scrubbed(value: Any, secrets: Collection[Secret]) -> Any:
    """The same plain JSON without secrets in its texts."""
    if isinstance(value, str):
        return scrub(value, secrets)
    if isinstance(value, Mapping):
        return {scrub(name, secrets): scrubbed(part, secrets) for name, part in value.items()}
    if isinstance(value, list):
        return [scrubbed(part, secrets) for part in value]
    return value


def _checked(value: str, place: str) -> Secret:
    if not (value and value.isascii() and value.isprintable() and " " not in value):
        raise Invalid(
            f"{place} holds what no key has: spaces, control characters, or letters beyond ASCII.", "Set it anew."
        )
    return Secret(value)


def _read(path: str) -> str:
    try:
        # Not waiting: a pipe in the file's place would hold us for ever.
        descriptor = os.open(os.path.expanduser(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no path"
        raise NotFound(f"The key's file {path} cannot be read ({why}).", "Check its path and owner.") from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _FILE_BYTES:
            raise Invalid(f"{path} is no file with a key.", "Write the key, and nothing else, into a file.")
        if found.st_mode & 0o077:
            mode = stat.S_IMODE(found.st_mode)
            raise Forbidden(f"The key's file {path} is open to others (mode {mode:o}).", f"Run: chmod 600 {path}")
        return os.read(descriptor, _FILE_BYTES).decode("utf-8", "replace").strip()
    finally:
        os.close(descriptor)


def _from_keyring(service: str, user: str) -> str:
    try:
        keyring = importlib.import_module("keyring")
    except ImportError:
        hint = "Install the package keyring, or use env:NAME or file:PATH."
        raise NotFound("No keyring is installed.", hint) from None
    try:
        value = keyring.get_password(service, user)
    except Exception as error:  # each backend has its own errors
        told = f"The keyring did not answer ({type(error).__name__})."
        raise NotFound(told, "Unlock it, or use env:NAME or file:PATH.") from None
    if not isinstance(value, str) or not value.strip():
        raise NotFound(f"The keyring holds nothing for {service}/{user}.", "Put the key there first.")
    return value.strip()
