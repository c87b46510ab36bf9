"""Several texts in one fence: which line begins an entry, and which was written by whom, shows in its indent. Pure."""

import re

_PART, _CONTINUED = "\n  ", "\n    "


def entry(first: str, *parts: str) -> str:
    """One entry of a list. Only its first line stands at the margin: its parts, empty ones left out, begin with two
    blanks and every further line within a text with four, so that no text looks like an entry or a part of ours.
    """
    return _PART.join(held for held in map(_held, (first, *parts)) if held)


def _held(text: str) -> str:
    # What a lone \r and the other line ends of Unicode do is spelled out when the text is shown.
    return text.replace("\r\n", "\n").strip().replace("\n", _CONTINUED)


_LABELS = {
    "Intent": "意图", "End state": "终态", "Constraint": "约束", "Must-haves": "必备成果", "Needs": "需要",
    "Why": "原因", "Where": "位置", "Change": "改法", "Because": "依据", "Answer": "答复", "Summary": "摘要",
    "Content": "内容", "A file": "文件",
}  # fmt: skip
_LABEL = re.compile(rf"\n  ({'|'.join(_LABELS)}):[ ]?")


def in_language(made: str, locale: str) -> str:
    """An entry with the labels of its parts in the language of the company ("en" or "zh"); texts stay as they are."""
    return _LABEL.sub(lambda found: f"\n  {_LABELS[found[1]]}：", made) if locale == "zh" else made
