"""Whether an agent's runner settings hold a key itself instead of where it comes from. Pure; no value is repeated.

Settings stay on the board for ever, in events and backups, so this looks at all of them, whatever their kind.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

_SOURCE = re.compile(r"env:\w{1,200}|file:.{1,900}|keyring:[^/]{1,200}/.{1,200}")
# A name whose value is a key; `max_tokens`, `tokens` and `answer_tokens` are counts.
_NAMED = re.compile(
    r"(?:^|[-_.])(?:key|apikey|token|secret|password|passwd|passphrase|authorization|credentials?|cookie|bearer)$",
    re.IGNORECASE,
)
# How providers begin their keys, so that one is known wherever it stands.
_SHAPED = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\bAIza[A-Za-z0-9_-]{30,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}"
    r"|\bxox[abprs]-[A-Za-z0-9-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\b(?:gsk|hf|xai|r8|nvapi)[-_][A-Za-z0-9_-]{20,}"
    r"|\b(?:x-)?(?:api|goog|auth)[-_](?:api-)?(?:key|token)[\"']?\s*[:=]\s*[\"']?[A-Za-z0-9._~+/-]{8,}"
    r"|\bBearer\s+[A-Za-z0-9._~+/-]{12,}|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\."
)
_OPTION = re.compile(r"-{1,2}([A-Za-z][A-Za-z0-9_-]*)(?:=(.*))?", re.DOTALL)
_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.+)", re.DOTALL)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.+", re.DOTALL)
_VARIABLE = re.compile(r"\$\{?\w+\}?|\{env:\w+\}")


def secret_in(runner: Mapping[str, Any]) -> str:
    """Where a key itself seems to stand, e.g. `headers.Authorization`; empty where none does."""
    return next(_places(runner, ""), "")


def _places(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            inner = f"{path}.{name}" if path else str(name)
            is_key = isinstance(part, str) and part and _NAMED.search(str(name)) and not _is_source(part)
            if _SHAPED.search(str(name)):
                yield path or "the name of a setting"  # a name is repeated where it is unknown: this one is not
            # Variables are named in `env`; a value beside a name is what the environment is for.
            elif is_key or (path == "env" and part not in (None, "")):
                yield inner
            else:
                yield from _places(part, inner)
    elif isinstance(value, list | tuple):
        yield from _words(value, path)
    elif isinstance(value, str) and _in_text(value):
        yield path


def _words(words: list[Any] | tuple[Any, ...], path: str) -> Iterator[str]:
    """A list, maybe of a command's words: what follows an option of a telling name is its value."""
    wanted = False
    for word in words:
        option = _OPTION.fullmatch(word) if isinstance(word, str) else None
        assigned = _ASSIGNED.fullmatch(word) if isinstance(word, str) else None
        if option is not None and option[2] is not None:
            held = _NAMED.search(option[1]) is not None and not _is_source(option[2])
        elif assigned is not None:
            held = path == "env" or (_NAMED.search(assigned[1]) is not None and not _is_source(assigned[2]))
        else:
            held = wanted and isinstance(word, str) and option is None and not _is_source(word)
        wanted = option is not None and option[2] is None and _NAMED.search(option[1]) is not None
        if held:
            yield path
        else:
            yield from _places(word, path)


def _in_text(text: str) -> bool:
    if _SHAPED.search(text):
        return True
    if "://" not in text:
        return False
    return any(_in_address(part.strip("\"'<>(),;")) for part in text.split())


def _in_address(address: str) -> bool:
    """A name or a key in an address: `user:pass@host`, `?key=…`."""
    found = _ADDRESS.search(address)
    if found is None:
        return False
    try:
        parts = urlsplit(found[0])
        fields = [*parse_qsl(parts.query), *parse_qsl(parts.fragment)]
    except ValueError:
        return False
    held = bool(parts.password) or (parts.scheme in ("http", "https") and bool(parts.username))
    return held or any(_NAMED.search(name) and not _is_source(value) for name, value in fields)


def _is_source(text: str) -> bool:
    """Where a key comes from: env:NAME and the like, or a variable that somebody else fills in."""
    return _SOURCE.fullmatch(text) is not None or _VARIABLE.fullmatch(text.removeprefix("Bearer ")) is not None
