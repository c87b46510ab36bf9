"""JSON from outside, looked at before it is parsed: a parser holds the whole process until it is done.

What makes one slow is not its bytes but the values in them, and the escapes in their texts: both are counted first.
"""

import json
from typing import Any

from core.domain.errors import Invalid

ESCAPES_MAX = 2_000_000
_PIECE = 1_048_576
_SIGNS = (b"[", b"{", b",")


class TooManyParts(Invalid):
    """More values than anybody sends, or more escapes in texts."""


def loads(text: bytes, parts_max: int) -> Any:
    """The value of a JSON text in UTF-8. Raises TooManyParts, ValueError for what is no JSON, RecursionError."""
    if text.count(b"\\") > ESCAPES_MAX:
        raise TooManyParts(f"The JSON has more than {ESCAPES_MAX:,} escapes.", "Send less, or plain UTF-8.")
    # Signs within texts are counted too at first: most JSON has few of either.
    if sum(map(text.count, _SIGNS)) > parts_max and _parts(text, parts_max) > parts_max:
        raise TooManyParts(f"The JSON has more than {parts_max:,} values.", "Send less at once.")
    return json.loads(text.decode("utf-8", "surrogatepass").removeprefix("\ufeff"))


def _parts(text: bytes, most: int) -> int:
    """The signs outside texts; where more than so many, any number beyond."""
    plain = b"".join(piece.replace(b"\\\\", b"").replace(b'\\"', b"") for piece in _pieces(text))
    # Between two signs are at most two texts: a name and a value.
    if plain.count(b'"') > 4 * (most + 1):
        return most + 1
    outside = b"".join(plain.split(b'"')[::2])
    return sum(map(outside.count, _SIGNS))


def _pieces(text: bytes) -> list[bytes]:
    """The text in pieces that tear no escape."""
    found, at = [], 0
    while at < len(text):
        end = at + _PIECE
        piece = text[at:end]
        if (len(piece) - len(piece.rstrip(b"\\"))) % 2 and end < len(text):
            piece = text[at : end + 1]
        found.append(piece)
        at += len(piece)
    return found
