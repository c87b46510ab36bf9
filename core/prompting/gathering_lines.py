"""Several texts in one fence: which line begins an entry, and which was written by whom, shows in its indent. Pure."""

_PART, _CONTINUED = "\n  ", "\n    "


def entry(first: str, *parts: str) -> str:
    """One entry of a list. Only its first line stands at the margin: its parts, empty ones left out, begin with two
    blanks and every further line within a text with four, so that no text looks like an entry or a part of ours.
    """
    return _PART.join(held for held in map(_held, (first, *parts)) if held)


def _held(text: str) -> str:
    # What a lone \r and the other line ends of Unicode do is spelled out when the text is shown.
    return text.replace("\r\n", "\n").strip().replace("\n", _CONTINUED)
