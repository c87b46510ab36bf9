"""Writes `docs/lifecycles.md` from the tables: `python -m core.domain.lifecycles_document > docs/lifecycles.md`."""

from collections.abc import Iterator

from core.domain.lifecycles import INNER, LIFECYCLES, WHO_NAMES, Lifecycle

_HEAD = """\
# Lifecycles

Made from the tables in `core/domain/lifecycles.py`; a test holds both equal. Make it anew with
`python -m core.domain.lifecycles_document > docs/lifecycles.md`.

Whatever is not listed is refused with a Conflict that names the state and the legal next acts. The act is the command
of that name."""


def document() -> str:
    """The whole text."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _HEAD
    yield ""
    yield "Who: " + ", ".join(f"{who.value} {name}" for who, name in WHO_NAMES.items()) + "."
    for cycle in LIFECYCLES.values():
        yield ""
        yield from _table(cycle)
    yield ""
    yield "## Steps without a command of their own"
    yield ""
    yield "| step | follows from |"
    yield "|---|---|"
    for act, commands in INNER.items():
        yield f"| {act} | {', '.join(commands)} |"


def _table(cycle: Lifecycle) -> Iterator[str]:
    yield f"## {cycle.thing.capitalize()}"
    yield ""
    yield f"Final: {', '.join(sorted(cycle.final))}."
    yield ""
    yield "| from | to | act | who | condition |"
    yield "|---|---|---|---|---|"
    for move in cycle.moves:
        letters = " ".join(sorted(who.value for who in move.who))
        yield f"| {move.source or '(new)'} | {move.target} | {move.act} | {letters} | {move.condition} |"


if __name__ == "__main__":
    print(document(), end="")
