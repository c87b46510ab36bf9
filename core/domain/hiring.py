"""What a hire is judged by: what nobody can do without it, who can do it already, and what it may cost. Pure."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.domain.actors import HUMAN, SYSTEM
from core.domain.entities import AgentRecord
from core.domain.states import AgentStatus

_MICROS = 1_000_000


RESERVED = frozenset({HUMAN, SYSTEM, "operator", "all", "everyone", "ticker", "dispatcher"})
"""Names that stand for a person, for the program or for everybody: an agent bears none of them."""
# Letters that are drawn as nothing: they are no format characters by their category.
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")


def same_name(one: str, other: str) -> bool:
    """Whether people would take two names for one: width, case, blanks and what nobody sees tell none apart (F26)."""
    return _plain(one) == _plain(other)


def is_visible(name: str) -> bool:
    """Whether anything of a name is seen."""
    return bool(_plain(name))


def _plain(name: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join("".join(each for each in folded if not _is_unseen(each)).split())


def _is_unseen(letter: str) -> bool:
    # Controls and format characters, but for those that part words; variation selectors.
    is_control = unicodedata.category(letter) in ("Cc", "Cf") and not letter.isspace()
    return is_control or letter in _BLANK or "\ufe00" <= letter <= "\ufe0f" or "\U000e0100" <= letter <= "\U000e01ef"


def same_hire(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two hires differ in nothing but what they are called (F26)."""
    return _substance(one) == _substance(other)


def _substance(hire: Mapping[str, Any]) -> tuple[Any, ...]:
    return hire.get("role"), frozenset(hire.get("capabilities", ())), hire.get("manager"), hire.get("runner")


def asked_for(by_tasks: Iterable[str], must_haves: Iterable[str], words: Iterable[str]) -> set[str]:
    """Capabilities that open tasks ask for, and those of `words` that stand in the text of a must-have."""
    texts = [text.casefold() for text in must_haves]
    return set(by_tasks) | {word for word in words if any(_names(word, text) for text in texts)}


def _names(word: str, text: str) -> bool:
    spelled = re.escape(word).replace(r"\-", "[- ]")
    return re.search(rf"(?<![\w-]){spelled}(?![\w-])", text) is not None


def lacking(agents: Iterable[AgentRecord], wanted: Iterable[str]) -> list[str]:
    """Those of the wanted capabilities that no active agent has."""
    there = {name for agent in agents if agent.status == AgentStatus.ACTIVE for name in agent.capabilities}
    return sorted(set(wanted) - there)


def alike(agents: Iterable[AgentRecord], busy: frozenset[int], role: str, capabilities: Sequence[str]) -> list[str]:
    """Slugs of active agents of that role with all these capabilities that do nothing now; `busy` are ids."""
    return [
        agent.slug
        for agent in agents
        if agent.status == AgentStatus.ACTIVE
        and agent.role == role
        and agent.id not in busy
        and set(capabilities) <= set(agent.capabilities)
    ]


def cost_words(budget_micros: int, max_runs: int, spent_micros: int, days: int) -> str:
    """What a hire may cost a day, for people; `spent_micros` is what its role cost an agent in the last `days`."""
    limit = (
        f"at most {_money(budget_micros)} a day"
        if budget_micros
        else "no limit of its own: it spends from the company's budget"
    )
    at_once = f"{max_runs} run{'' if max_runs == 1 else 's'} at once"
    so_far = f"an agent of this role costs {_money(spent_micros // days)} a day so far" if spent_micros else ""
    return "; ".join(part for part in (limit, at_once, so_far) if part)


def _money(micros: int) -> str:
    return f"${micros / _MICROS:.2f}" if micros >= 10_000 or not micros else f"${micros / _MICROS:.6f}".rstrip("0")
