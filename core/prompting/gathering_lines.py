"""Several texts in one fence: which line begins an entry, and which was written by whom, shows in its indent. Pure."""

import re
from collections.abc import Sequence

ENTRIES = 30  # tasks, outputs, staff, questions: of each the first or newest
_PART, _CONTINUED = "\n  ", "\n    "


def entry(first: str, *parts: str) -> str:
    """One entry of a list. Only its first line stands at the margin: its parts, empty ones left out, begin with two
    blanks and every further line within a text with four, so that no text looks like an entry or a part of ours.
    """
    return _PART.join(held for held in map(_held, (first, *parts)) if held)


def named(must_haves: Sequence[str]) -> str:
    """' (M1, M2)' for the must-haves of a task or an output; empty for none."""
    return f" ({', '.join(must_haves)})" if must_haves else ""


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


_PHRASES = {
    "{} bytes": "{} 字节",
    "Delivers {}": "交付：{}",
    "{} answers {}: {}": "{} 答辩 {}：{}",
    "{} of {}": "{1} 的 {0}",
    " [a newer run of its task delivered]": "（其任务已有更新的交付）",
    "{} ({}, by {})": "{}（{}，{} 指出）",
    "Goal {}: {}": "目标 {}：{}",
    "… and {} more": "……另有 {} 个",
    "… [cut]": "……［截断］",
}


def phrase(form: str, locale: str, *values: object) -> str:
    """One of the program's own phrases in the language of the company, with its values as they are."""
    return (_PHRASES[form] if locale == "zh" else form).format(*values)
