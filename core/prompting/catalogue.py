"""Every template by its name, with sample facts: what it may use, and what the start-up check renders it with."""

from collections.abc import Mapping
from typing import Any

from core.domain.ceo_mode import SLUGS, CeoMode
from core.domain.limits import DISCUSSION_TURNS, OBSERVATION_MAX, REVIEW_ATTEMPTS, ROUND_CAP
from core.domain.reviewing import ASKS, FREEDOM
from core.domain.states import Dimension, Role, RunKind
from core.prompting.fence import fence

LOCALES = ("en", "zh")
FALLBACK = "en"
FOOTER = "ceo-shared/proactive-footer"
MAIL = {"mail_inform": "mail/inform", "mail_request": "mail/request"}
MENTION, DELEGATE, CLAIM = "talk/mention", "talk/delegate", "broadcast/claim"
PHASES: Mapping[RunKind, str] = {
    kind: f"phases/{kind.value.replace('_', '-')}"
    for kind in RunKind
    if kind not in (RunKind.BROADCAST, RunKind.MENTION, RunKind.HEARTBEAT, RunKind.PROPOSE)
}

_NONCE = "502901640017"
_LEFT_OUT = [{"what": "comments", "count": 3, "how": 'ListComments {"task": 12}'}]
_CLIPPED = [{"what": "ends of red lines", "count": 1, "how": "guardrails.yaml"}]
_CALL = {"name": "SubmitTask", "about": "Hand it in.", "example": '{"task": 12}', "fields": "task"}


def _data(text: str) -> str:
    return fence(text, "text", _NONCE)


def ceo_mode(mode: CeoMode) -> str:
    """The name of a mode's template."""
    return f"ceo-modes/{SLUGS[mode]}"


_ROLE: dict[str, Any] = {
    "agent_name": "Zhao Yun", "agent_slug": "zhao-yun", "company_name": "North Wharf", "capabilities": ["data"],
}  # fmt: skip
_RUN: dict[str, Any] = {"agent_name": "Zhao Yun"}
_TURN: dict[str, Any] = {"turn": 1, "turns_max": DISCUSSION_TURNS}
_NO_GOAL: dict[str, Any] = {
    "goal": None, "goal_title": "", "goal_description": "", "goal_constraints": "", "must_haves": [], "done": [],
    "blocked": [],
}  # fmt: skip
_PROJECT: dict[str, Any] = {
    "company_name": "North Wharf", "mission": _data("Honest data."), "goal_title": _data("A loader"),
    "goal": {"tag": "G3", "status": "active", "round": 2, "round_cap": ROUND_CAP},
    "goal_description": _data("Load the feeds."), "goal_constraints": _data("No network."),
    "must_haves": [{"id": "M1", "text": _data("A loader"), "state": "open"}],
    "done": [_data("T4: The feed")], "blocked": [_data("T5: The page")],
}  # fmt: skip
_TASK: dict[str, Any] = {
    "cue": "Look at the agenda.", "title": _data("A loader"), "intent": _data("Load."),
    "task": {"tag": "T12", "status": "working", "risk": "standard", "attempt": 1, "review_attempt": 1},
    "end_state": _data("`make load` ends with 0."), "constraints": _data("No network."),
    "must_haves": [{"id": "M1", "text": _data("A loader")}], "artefacts": _data("loader.py"),
    "comments": [{"head": "C7, guan-yu, observation", "text": _data("Use decimals.")}],
    "others": [{"head": "Findings", "text": _data("Line 3 is wrong.")}], "left_out": _LEFT_OUT,
}  # fmt: skip
_NO_TASK: dict[str, Any] = {
    "cue": "", "task": None, "title": "", "intent": "", "end_state": "", "constraints": "", "must_haves": [],
    "artefacts": "", "comments": [], "others": [], "left_out": [],
}  # fmt: skip
_TREE: dict[str, Any] = {
    "how": "tree", "repository": "../site", "folder": "/home/zhao/north-wharf/work/trees/T12-a-loader", "task": 12,
    "branch": "opsroom/T12", "base": "4f1d5a0c9b7e",
}  # fmt: skip
_BEFORE: dict[str, Any] = {
    "tag": "T4", "title": _data("The feed"), "status": "done", "handoff": _data("I chose CSV."),
    "outputs": [{"tag": "O2", "head": "data", "summary": _data("A sample")}],
}  # fmt: skip


def _reviews() -> list[dict[str, Any]]:
    dimensions = [{"name": str(one), "asks": ASKS[one], "freedom": str(FREEDOM[one])} for one in Dimension]
    known = {"dimensions": dimensions, "attempts_max": REVIEW_ATTEMPTS}
    roles = ("executor", "reviewer", "challenger", "coordinator")
    return [known | {"role": role, "risk": risk} for role in roles for risk in ("high", "standard", "low", "")]


# name → samples of its facts, the fullest first. A template may use the facts of its samples, and no other.
TEMPLATES: dict[str, tuple[dict[str, Any], ...]] = {
    **{
        f"roles/{role}": tuple(_ROLE | {"role": str(role), "capabilities": able} for able in (["data"], []))
        for role in Role
    },
    **{ceo_mode(mode): ({},) for mode in CeoMode},
    FOOTER: ({},),
    CLAIM: (_RUN | {"run_kind": "broadcast", "observation_max": OBSERVATION_MAX},),
    **{name: (_RUN | {"run_kind": str(kind)},) for kind, name in PHASES.items()},
    PHASES[RunKind.EXPLORE]: (_RUN | _TURN | {"run_kind": "explore"},),
    PHASES[RunKind.DISCUSS]: (_RUN | _TURN | {"run_kind": "discuss"},),
    PHASES[RunKind.ROUND_REVIEW]: (_RUN | {"run_kind": "round_review", "round_number": 2, "round_cap": ROUND_CAP},),
    **{
        name: tuple(_RUN | {"run_kind": "mention", "author": author} for author in ("guan-yu", "human"))
        for name in (*MAIL.values(), MENTION, DELEGATE)
    },
    "layers/self": (
        {"soul": _data("Calm."), "identity": _data("An engineer."), "memory": _data("Nothing yet.")},
        {"soul": "", "identity": "", "memory": ""},
    ),
    "layers/project": (_PROJECT, _PROJECT | _NO_GOAL, _PROJECT | {"goal": {**_PROJECT["goal"], "round": None}}),
    "layers/task": (_TASK, _NO_TASK),
    "layers/remark": ({"run": "R12", "text": _data("The feed has moved.")},),
    "layers/workplace": (
        _TREE,
        *(_TREE | {"how": how, "folder": "", "branch": "", "base": ""} for how in ("later", "board")),
        _TREE | {"how": "judged"},
    ),
    "layers/predecessors": (
        {"tasks": [_BEFORE], "left_out": _LEFT_OUT},
        {"tasks": [_BEFORE | {"outputs": [], "handoff": ""}], "left_out": []},
    ),
    "layers/api": (
        {"commands": [_CALL], "reads": [_CALL | {"name": "ReadTask"}], "left_out": _LEFT_OUT},
        {"commands": [], "reads": [], "left_out": []},
    ),
    "layers/guardrails": tuple(
        {
            "role": "executor", "left_out": left,
            "red_lines": [{"name": "data-deletion", "what": "Data is deleted.", "action": action}],
        }
        for action, left in (("pause_and_escalate", _CLIPPED), ("block_and_notify", []))
    ),
    "layers/review": tuple(_reviews()),
    "layers/experiences": (
        {"items": [{"tag": "E3", "author": "guan-yu", "text": _data("Check the zone.")}], "left_out": _LEFT_OUT},
        {"items": [], "left_out": []},
    ),
    "layers/knowledge": (
        {
            "sections": [
                {"path": "knowledge/feeds.md", "heading": "Times", "text": _data("UTC.")},
                {"path": "knowledge/feeds.md", "heading": "", "text": ""},
            ],
            "left_out": _LEFT_OUT,
        },
        {"sections": [], "left_out": []},
    ),
}  # fmt: skip
