"""Rules of goals: what identifies their content, when they may be dispatched, what covers their must-haves."""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from core.domain.actors import HUMAN
from core.domain.entities import Goal, MustHave
from core.domain.limits import MISSION_SENTINELS


def canonical_hash(value: Any) -> str:
    """sha256 (hex) of a JSON value in one canonical spelling."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def content_hash(
    title: str,
    description: str,
    must_haves: Sequence[MustHave],
    constraints: Sequence[str],
    out_of_scope: Sequence[str] = (),
) -> str:
    """The hash of exactly what a person reviews (D-02). Waivers are the person's own and do not count.

    What came with a later schema counts only where there is any, so that older hashes stay valid.
    """
    musts = [[must["id"], must["text"], *([verify] if (verify := must.get("verify")) else [])] for must in must_haves]
    return canonical_hash(
        [title, description, musts, list(constraints), *([list(out_of_scope)] if out_of_scope else [])]
    )


def not_verifiable(must_haves: Iterable[MustHave]) -> list[str]:
    """Ids of must-haves that nobody waived and that do not say how one can see that they are there (S2-07)."""
    return [must["id"] for must in must_haves if not must["waived_by"] and not must.get("verify", "").strip()]


def is_reviewed(goal: Goal) -> bool:
    """A human reviewed, wrote or edited exactly this content (C-10, D-02, S1-15); not while it is still talked over."""
    return not goal.exploring and goal.reviewed_by == HUMAN and goal.reviewed_hash == goal.content_hash


def mission_is_defined(mission: str) -> bool:
    """The mission gate of S1-06, normalised as C-15 says (NFKC, strip, casefold)."""
    return unicodedata.normalize("NFKC", mission).strip().casefold() not in MISSION_SENTINELS
