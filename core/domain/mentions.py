"""Who a comment wakes: names in a text, the nearest known ones, and exchanges that go round in circles (S2-29, F7)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from core.domain.actors import HUMAN, SYSTEM
from core.domain.entities import AgentRecord
from core.domain.limits import EXCHANGE_MESSAGES
from core.domain.states import AgentStatus, CommentKind, Role

NOTE_COMMAND = "/note"
PERSON = frozenset({"operator", HUMAN})
GROUP_MAX = 30  # agents of one exchange that are looked for

# Letters of other scripts may stand right beside a name, as in Chinese; an address's own may not.
_AT = re.compile(r"(?<![A-Za-z0-9_.@-])@([A-Za-z][A-Za-z0-9_-]*|[^\W\d_]+)")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_SHOWN = 40
_UNKNOWN_MAX = 5  # names that are looked up among the known ones: a text may hold thousands
_ALIKE = 0.6
_EACH = EXCHANGE_MESSAGES // 2


@dataclass(frozen=True, slots=True)
class Wakes:
    """Whom a comment calls: agents in order, unknown names with the nearest known ones, and the operator or not."""

    names: tuple[str, ...] = ()
    unknown: Mapping[str, list[str]] = field(default_factory=dict)
    operator: bool = False


def named_in(body: str) -> list[str]:
    """The names written as @name or @Name, in order, each once; also those that nobody has."""
    return [name for name in _called(body) if _NAME.fullmatch(name)]


def nearest(name: str, known: Iterable[str], n: int = 3) -> list[str]:
    """The known names that look most like this one, the likest first; none that looks quite different."""
    wanted = name.casefold()
    scored = [(_likeness(wanted, other), other) for other in known]
    return [other for score, other in sorted(scored, key=lambda pair: (-pair[0], pair[1])) if score >= _ALIKE][:n]


def _likeness(wanted: str, other: str) -> float:
    # The beginning of a name is how people shorten it.
    if len(wanted) > 1 and other.startswith(wanted):
        return 1.0
    match = SequenceMatcher(None, wanted, other)
    # The quick ones are upper bounds of the exact one, which is dear.
    return 0.0 if min(match.real_quick_ratio(), match.quick_ratio()) < _ALIKE else match.ratio()


def as_note(body: str) -> str | None:
    """What follows `/note`, if the text begins with it: such a text wakes nobody. None for any other."""
    text = body.lstrip()
    rest = text.removeprefix(NOTE_COMMAND)
    return rest.strip() if rest != text and rest[:1].strip() == "" else None


def by_role(agents: Iterable[AgentRecord]) -> dict[str, str]:
    """The short name that a role calls, e.g. `@coordinator`: its first active agent. An executor is called by name."""
    found: dict[str, str] = {}
    for agent in agents:
        if agent.status == AgentStatus.ACTIVE and agent.role != Role.EXECUTOR:
            found.setdefault(str(agent.role), agent.slug)
    return found


def wakes(
    body: str,
    kind: CommentKind,
    author: str,
    known: Iterable[str],
    also: Sequence[str] = (),
    *,
    by_role: Mapping[str, str] | None = None,
) -> Wakes:
    """Whom this comment calls, were `author` to send it. Nobody calls themselves, and a note calls nobody.

    `also` are names that the sender chose beside those in the text; with them even a note calls. `by_role` is whom a
    role calls where nobody has that name (S2-08).
    """
    if as_note(body) is not None or (kind == CommentKind.NOTE and not also):
        return Wakes()
    known = set(known)
    roles = by_role or {}
    called = list(dict.fromkeys(name if name in known else roles.get(name, name) for name in [*also, *_called(body)]))
    names = tuple(name for name in called if name in known and name != author)
    strange = [name[:_SHOWN] for name in called if name not in known and name not in PERSON and name != author]
    unknown = {name: nearest(name, known - {author}) for name in strange[:_UNKNOWN_MAX]}
    return Wakes(names, unknown, author != HUMAN and any(name in PERSON for name in called))


def _called(body: str) -> list[str]:
    # Names are lower case, and people write them as they like.
    return list(dict.fromkeys(found.rstrip("-").lower() for found in _AT.findall(body)))


@dataclass(frozen=True, slots=True)
class Said:
    """One comment of a thread: its author, and whom it wakes."""

    id: int
    author: str
    wakes: frozenset[str]


def exchange(thread: Sequence[Said], agents: frozenset[str]) -> list[Said]:
    """The words of a small group of agents that only wake each other: the thread's last ones, or none (F7).

    Two agents have six words, a circle of k agents three each. Words that wake nobody neither count nor break it;
    a person's word, or anybody else's, breaks it.
    """
    said = [word for word in thread if word.wakes or word.author not in agents | {SYSTEM}]
    for size in range(2, GROUP_MAX + 1):
        last = said[-_EACH * size :]
        if len(last) < _EACH * size:
            return []
        group = {word.author for word in last}
        if group <= agents and 1 < len(group) <= size and all(word.wakes & (group - {word.author}) for word in last):
            return list(last)
    return []
