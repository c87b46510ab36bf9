"""What raises a task's risk whatever was said: risk control and live trading are high (S3-16). Pure."""

import re
from collections.abc import Iterable

from core.domain.states import Risk

# Hyphens, underscores and blanks are one; Chinese has no word boundaries.
_ENGLISH = re.compile(
    r"(?<![a-z0-9])(?:"
    r"risk[\s_-]*(?:control|limit|management|engine|check)s?"
    r"|(?:live|real[\s_-]*money|production)[\s_-]*(?:trad(?:e|es|ing)|orders?|accounts?|execution)"
    r"|(?:stop[\s_-]*loss|take[\s_-]*profit|margin[\s_-]*call|position[\s_-]*limit)(?:es|s)?"
    r")(?![a-z0-9])",
    re.IGNORECASE,
)
_CHINESE = re.compile(r"风控|风险控制|风险管理|风险限额|实盘|真实资金|止损|止盈|爆仓|强平|持仓限额|仓位限制")
TAGS = frozenset({"risk-control", "risk-management", "live-trading", "real-money"})


def raised(risk: Risk, texts: Iterable[str], tags: Iterable[str] = ()) -> Risk:
    """HIGH when any text or tag is about risk control or live trading, else the risk as it was named."""
    if any(tag.strip().casefold().replace("_", "-") in TAGS for tag in tags):
        return Risk.HIGH
    touches = any(_ENGLISH.search(text) or _CHINESE.search(text) for text in (*texts, *tags))
    return Risk.HIGH if touches else risk


def higher(one: Risk, other: Risk) -> Risk:
    """The one that asks for more care."""
    order = list(Risk)
    return max(one, other, key=order.index)
