"""How a must-have is typed: 'what must be there :: how one can see it', with its id before it when it has one."""

import re
from typing import Any

_TYPED = re.compile(r"\s*(?:(M[0-9]+)\s+)?(.*?)\s*(?:::\s*(.*?)\s*)?", re.DOTALL)


def must_have_of(text: str) -> dict[str, Any]:
    """The fields of a must-have: 'M2 a report :: it names every file' keeps the id M2."""
    found = _TYPED.fullmatch(text)
    assert found is not None
    return {"id": found[1] or "", "text": found[2], "verify": found[3] or ""}
