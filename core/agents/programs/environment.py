"""What a program's environment holds: what every program needs, what was named, and nothing else of ours (F17)."""

from collections.abc import Iterable, Mapping

from core.domain.errors import Invalid

_ALLOWED = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
    "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
)  # fmt: skip
_OURS = "OPSROOM_"
_LOOPBACK = "127.0.0.1,localhost,::1"


def environment_of(
    ours: Mapping[str, str], names: Iterable[str] = (), told: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The allowed part of our own environment, the variables of these `names`, and what the program is `told`."""
    found = {name: ours[name] for name in (*_ALLOWED, *names) if name in ours}
    # Its own calls must not take a way through a proxy, which would learn the run's token.
    for name in ("NO_PROXY", "no_proxy"):
        found[name] = ",".join(part for part in (found.get(name, ""), _LOOPBACK) if part)
    return {**found, "TERM": "dumb", "NO_COLOR": "1", **(told or {})}


def checked_name(name: str) -> str:
    """A name of a variable that an agent's settings may name. Raises Invalid; a value put there is not repeated."""
    if not (name.isascii() and name.replace("_", "a").isalnum() and not name[0].isdigit()):
        raise Invalid(
            "env names variables, and one of its entries is no name.",
            "Give names alone, e.g. PROVIDER_KEY; their values are read from the environment.",
        )
    if name.startswith(_OURS):
        raise Invalid(f"{name} is Opsroom's own; no agent is given it.", "Leave it out of env.")
    return name
