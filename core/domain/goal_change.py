"""A change of a goal at work: which ids its must-haves keep. What was delivered once counts only for the same words."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from core.domain.entities import Goal, MustHave


class Wanted(NamedTuple):
    """A must-have as somebody wants it; `id` is empty for a new one or one that is known by its text."""

    id: str
    text: str
    verify: str


class Numbered(NamedTuple):
    """The must-haves with their ids, and which old id went over into which new one."""

    must_haves: list[MustHave]
    replaced: dict[str, str]


def numbered(known: Sequence[MustHave], wanted: Iterable[Wanted], delivered: Collection[str]) -> Numbered:
    """Ids for the wanted must-haves. Raises KeyError for an id that the goal does not have, ValueError for one twice.

    The same id or the same text keeps its id. Other words under an id that something delivers (`delivered`) or that a
    person waived are another must-have: they get the next free number, and so never one that something delivers.
    Waived ones stay, asked for or not.
    """
    by_id = {must["id"]: must for must in known}
    by_text = {must["text"]: must["id"] for must in reversed(known)}
    free = 1 + max((int(used[1:]) for used in {*by_id, *delivered} if used[1:].isdecimal()), default=0)
    found: list[MustHave] = []
    used: set[str] = set()
    replaced: dict[str, str] = {}
    for want in wanted:
        own = want.id or by_text.get(want.text, "")
        if want.id and want.id not in by_id:
            raise KeyError(want.id)
        before = by_id.get(own)
        if before is not None and own in used:
            raise ValueError(own)
        waived = before["waived_by"] if before is not None else ""
        if before is None or (before["text"] != want.text and (own in delivered or waived)):
            number, free = f"M{free}", free + 1
            if before is not None:
                replaced[own] = number
            own, waived = number, ""
        used.add(own)
        found.append(_must_have(own, want, waived, before))
    kept = [must for must in known if must["waived_by"] and must["id"] not in used]
    return Numbered(found + kept, replaced)


def _must_have(must_id: str, want: Wanted, waived: str, before: MustHave | None) -> MustHave:
    must = MustHave(id=must_id, text=want.text, waived_by=waived)
    verify = want.verify or (before.get("verify", "") if before else "")
    return MustHave(**must, verify=verify) if verify else must


def content_of(goal: Goal) -> dict[str, Any]:
    """What a change of a goal may touch, as the operator sees it side by side."""
    return {
        "description": goal.description,
        "must_haves": [dict(must) for must in goal.must_haves],
        "constraints": list(goal.constraints),
        "out_of_scope": list(goal.out_of_scope),
    }


def same_content(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two contents ask for the same. Waivers are the person's own and do not count."""
    return _bare(one) == _bare(other)


def _bare(content: Mapping[str, Any]) -> list[Any]:
    musts = [[must["id"], must["text"], must.get("verify", "")] for must in content["must_haves"]]
    return [content["description"], musts, list(content["constraints"]), list(content["out_of_scope"])]


def without(named: Iterable[str], known: Collection[str], replaced: Mapping[str, str]) -> tuple[str, ...]:
    """The must-haves that a draft names, after a change: replaced ones by their new id, dropped ones left out."""
    return tuple(dict.fromkeys(new for old in named if (new := replaced.get(old, old)) in known))
