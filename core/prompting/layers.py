"""Turns facts into layers: every value fenced, as much of each list as `Cut` leaves. Pure.

Together they are the prompt of S2-27: the task as it was given, its limits, the board's calls, rules of conduct, and
what success is. What tasks before it delivered stands in summaries (S3-31).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.domain.entities import Task
from core.domain.limits import REVIEW_ATTEMPTS
from core.domain.reviewing import ASKS, FREEDOM, required_dimensions
from core.domain.states import Role, RunKind
from core.prompting.counting import count
from core.prompting.facts import Commission, Listing, PromptFacts, goal_call, task_call
from core.prompting.fence import fence, one_line, visible
from core.prompting.gathering_lines import phrase
from core.prompting.prompt import Layer, LayerName, LeftOut
from core.prompting.templates import Library, Rendered

CUT = "… [cut]"
PART_MAX = 1_200  # code points of one comment, handoff, summary, experience or section
REVIEWED = frozenset({RunKind.EXECUTE, RunKind.REVIEW, RunKind.RULE, RunKind.ROUND_REVIEW})
GUARDED = frozenset({RunKind.EXECUTE, RunKind.MENTION})
_JUDGED = frozenset({Role.EXECUTOR, Role.REVIEWER, Role.CHALLENGER, Role.COORDINATOR})


@dataclass(frozen=True, slots=True)
class Cut:
    """How much of each list stays, and how long a value may be (code points). What is first in a list stays longest."""

    bodies: int  # of sections of knowledge; the others are named only
    sections: int
    experiences: int
    comments: int
    predecessors: int
    items: int  # of `others`, all together
    length: int
    musts: int
    reads: int


class Writer:
    """Makes the layers of one prompt, again and again with less in them."""

    def __init__(self, facts: PromptFacts, library: Library, nonce: str) -> None:
        self.facts = facts
        self.about: Commission = facts.commission
        self.warnings: dict[str, None] = {}
        self._library = library
        self._nonce = nonce
        self._clipped = 0
        self._length = 0

    def layers(self, cut: Cut) -> tuple[Layer, ...]:
        """All layers that have something to say, in the order of S4-01."""
        self._length, self._clipped = cut.length, 0
        # The task's layer comes last: it tells how many values of the others were clipped.
        made = [
            self._self(), self._role(cut), self._project(cut), self._predecessors(cut), self._api(cut),
            self._guardrails(cut), self._review(), self._experiences(cut), self._knowledge(cut), self._task(cut),
        ]  # fmt: skip
        order = list(LayerName)
        return tuple(sorted((layer for layer in made if layer), key=lambda layer: order.index(layer.name)))

    def _self(self) -> Layer | None:
        texts = {"soul": self.facts.soul, "identity": self.facts.identity, "memory": self.facts.memory}
        if not any(texts.values()):
            return None
        return self._layer(
            LayerName.SELF, "layers/self", {name: self._data(text, name) for name, text in texts.items()}
        )

    def _role(self, cut: Cut) -> Layer:
        agent = self.about.agent
        able = [one_line(one, min(40, _name_length(cut))) for one in agent.capabilities[: min(20, cut.musts)]]
        more = len(agent.capabilities) - len(able)
        role = {
            "agent_name": one_line(agent.name, _name_length(cut)), "agent_slug": agent.slug, "role": str(agent.role),
            "company_name": one_line(self.about.company.name, _name_length(cut)),
            "capabilities": [*able, *([f"… +{more}"] if more else [])],
        }  # fmt: skip
        errand = {**self.facts.errand, "agent_name": role["agent_name"]}
        parts = [self._render(f"roles/{agent.role}", role)]
        parts += [self._render(name, errand) for name in self.facts.templates]
        return self._made(LayerName.ROLE, parts)

    def _project(self, cut: Cut) -> Layer:
        goal, round_ = self.about.goal, self.about.round
        musts = self.facts.musts[: cut.musts]
        facts: dict[str, Any] = {
            "company_name": one_line(self.about.company.name, _name_length(cut)),
            "mission": self._data(self.about.company.mission or "-", "mission"),
            "goal": None, "goal_title": "", "goal_description": "", "goal_constraints": "", "must_haves": [],
            "done": self._lines(self.facts.done, "done"), "blocked": self._lines(self.facts.blocked, "blocked"),
        }  # fmt: skip
        if goal is not None:
            facts |= {
                "goal": {"tag": goal.name_tag, "status": str(goal.status), "round_cap": goal.round_cap,
                         "round": round_.number if round_ is not None else None},
                "goal_title": self._data(goal.title, "goal"),
                "goal_description": self._data(goal.description, "description"),
                "goal_constraints": self._data("\n".join(goal.constraints), "constraints"),
                "must_haves": [
                    {"id": one_line(must.id, 20), "text": self._data(must.text, "must-have"), "state": must.state}
                    for must in musts
                ],
            }  # fmt: skip
        left = [LeftOut("must-haves of the goal", len(self.facts.musts) - len(musts), self._goal_call())]
        return self._layer(LayerName.PROJECT, "layers/project", facts, left)

    def _task(self, cut: Cut) -> Layer:
        task = self.about.task
        comments = self.facts.comments[len(self.facts.comments) - cut.comments :]
        others, left = self._others(cut.items)
        left += [LeftOut("comments", self.facts.comments_total - len(comments), self.facts.comments_how)]
        left += [LeftOut("must-haves of the goal", len(self.facts.musts) - min(cut.musts, len(self.facts.musts)),
                         self._goal_call())]  # fmt: skip
        facts: dict[str, Any] = {
            "cue": one_line(str(self.about.brief.get("cue", "")), 300), "others": others,
            "comments": [
                {"head": f"C{said.id}, {one_line(said.author, 40)}, {said.kind}:",
                 "text": self._data(said.body, "comment", PART_MAX)}
                for said in comments
            ],
            **self._of_task(task, cut),
        }  # fmt: skip
        texts = [LeftOut("ends of long texts", self._clipped, self._task_call())]
        told = _told([*left, *texts])
        rendered = self._render("layers/task", {**facts, "left_out": [_as_facts(one) for one in told]})
        return self._made(LayerName.TASK, [rendered, *self._workplace(), *self._remark()], told)

    def _workplace(self) -> list[Rendered]:
        """Where its files are; the names are the operator's and ours, so they stand within the sentences."""
        place, task = self.facts.workplace, self.about.task
        if place is None or task is None:
            return []
        tree = place.tree
        folder = str(self.about.folder.absolute() / tree.path) if tree is not None else ""
        facts = {
            "how": place.how, "repository": _path(place.repository), "folder": _path(folder), "task": task.id,
            "branch": tree.branch if tree is not None else "", "base": tree.base[:12] if tree is not None else "",
        }  # fmt: skip
        return [self._render("layers/workplace", facts)]

    def _remark(self) -> list[Rendered]:
        """What the operator said when they had a session gone on with."""
        text = self._data(str(self.about.brief.get("remark", "")), "operator")
        run = one_line(str(self.about.brief.get("continues", "")), 40)
        return [self._render("layers/remark", {"run": run, "text": text})] if text else []

    def _of_task(self, task: Task | None, cut: Cut) -> dict[str, Any]:
        if task is None:
            return {"task": None, "title": "", "intent": "", "end_state": "", "constraints": "", "must_haves": [],
                    "artefacts": ""}  # fmt: skip
        texts = {must.id: must.text for must in self.facts.musts}
        return {
            "task": {"tag": task.name_tag, "status": str(task.status), "risk": str(task.risk),
                     "attempt": task.attempts + 1, "review_attempt": task.review_attempts},
            "title": self._data(task.title, "title"), "intent": self._data(task.intent, "intent"),
            "end_state": self._data(task.end_state, "end state"),
            "constraints": self._data("\n".join(task.constraints), "constraints"),
            "must_haves": [
                {"id": one_line(number, 20), "text": self._data(texts.get(number, "-"), "must-have")}
                for number in task.must_haves[: cut.musts]
            ],
            "artefacts": self._data(self.facts.artefacts, "arguments"),
        }  # fmt: skip

    def _others(self, items: int) -> tuple[list[dict[str, str]], list[LeftOut]]:
        shown: list[dict[str, str]] = []
        left: list[LeftOut] = []
        for other in self.facts.others:
            kept = other.items[:items]
            items -= len(kept)
            if kept:
                text = "\n".join(self._clip(item, PART_MAX) for item in kept)
                shown.append({"head": one_line(other.head, 160), "text": fence(text, other.what, self._nonce)})
            left.append(LeftOut(other.what, len(other.items) - len(kept) + other.left_out, other.how))
        return shown, left

    def _predecessors(self, cut: Cut) -> Layer | None:
        if not self.facts.predecessors:
            return None
        shown = self.facts.predecessors[: cut.predecessors]
        tasks = [
            {
                "tag": one.task.name_tag, "status": str(one.task.status),
                "title": self._data(one.task.title, "title"), "handoff": self._data(one.handoff, "handoff", PART_MAX),
                "outputs": [
                    {"tag": output.name_tag,
                     "head": f"{output.type}, {phrase('{} bytes', self.about.company.locale, output.size)}",
                     "summary": self._data("\n".join(filter(None, (output.title, output.summary))), "output", 600)}
                    for output in one.outputs
                ],
            }
            for one in shown
        ]  # fmt: skip
        left = [LeftOut("tasks that this one builds on", self.facts.predecessors_total - len(shown), self._task_call())]
        return self._listed(LayerName.PREDECESSORS, "layers/predecessors", {"tasks": tasks}, left)

    def _api(self, cut: Cut) -> Layer:
        commands, reads = self.facts.api["commands"], self.facts.api["reads"]
        names = ", ".join(one["name"] for one in reads[cut.reads :])
        left = [LeftOut("reads", len(reads) - min(cut.reads, len(reads)), names)]
        return self._listed(LayerName.API, "layers/api", {"commands": commands, "reads": reads[: cut.reads]}, left)

    def _guardrails(self, cut: Cut) -> Layer | None:
        if self.about.agent.role != Role.EXECUTOR or self.about.kind not in GUARDED or not self.facts.red_lines:
            return None
        most = min(160, cut.length)
        # Every line stays by its name, whatever else must go.
        lines = [
            {"name": one_line(line.name, 40), "what": one_line(line.about, most) if most else "…",
             "action": str(line.action)}
            for line in self.facts.red_lines
        ]  # fmt: skip
        clipped = sum(
            shown["what"] != one_line(line.about, 10**9)
            for shown, line in zip(lines, self.facts.red_lines, strict=True)
        )
        left = [LeftOut("ends of red lines", clipped, "guardrails.yaml")]
        return self._listed(LayerName.GUARDRAILS, "layers/guardrails", {"red_lines": lines, "role": "executor"}, left)

    def _review(self) -> Layer | None:
        role, task = self.about.agent.role, self.about.task
        if role not in _JUDGED or self.about.kind not in REVIEWED:
            return None
        dimensions = required_dimensions(task.risk) if task is not None else ()
        facts = {
            "dimensions": [{"name": str(one), "asks": ASKS[one], "freedom": str(FREEDOM[one])} for one in dimensions],
            "attempts_max": REVIEW_ATTEMPTS, "role": str(role), "risk": str(task.risk) if task is not None else "",
        }  # fmt: skip
        return self._layer(LayerName.REVIEW, "layers/review", facts)

    def _experiences(self, cut: Cut) -> Layer | None:
        found = self.facts.experiences
        if not found:
            return None
        items = [
            {"tag": one.name_tag or f"E{one.id}", "author": one_line(one.author, 40),
             "text": self._data(one.body, "experience", PART_MAX)}
            for one in found[: cut.experiences]
        ]  # fmt: skip
        left = [LeftOut("experiences", len(found) - len(items), "ListExperiences {}")]
        return self._listed(LayerName.EXPERIENCES, "layers/experiences", {"items": items}, left)

    def _knowledge(self, cut: Cut) -> Layer | None:
        found = self.facts.knowledge
        if not found:
            return None
        shown = found[: cut.sections]
        sections = [
            {"path": one_line(one.path, 100).replace("`", "'"), "heading": one_line(one.heading, 80),
             "text": self._data(one.body if at < cut.bodies else one.first_line, "knowledge",
                                PART_MAX if at < cut.bodies else 100)}
            for at, one in enumerate(shown)
        ]  # fmt: skip
        first = found[min(cut.bodies, len(found) - 1)]
        how = f"ReadKnowledge {json.dumps({'path': visible(first.path)}, ensure_ascii=False)}"
        left = [LeftOut("sections in full", len(found) - min(cut.bodies, len(found)), how)]
        return self._listed(LayerName.KNOWLEDGE, "layers/knowledge", {"sections": sections}, left)

    def _listed(self, name: LayerName, template: str, facts: Mapping[str, Any], left: list[LeftOut]) -> Layer:
        told = _told(left)
        rendered = self._render(template, {**facts, "left_out": [_as_facts(one) for one in told]})
        return self._made(name, [rendered], told)

    def _layer(self, name: LayerName, template: str, facts: Mapping[str, Any], left: Sequence[LeftOut] = ()) -> Layer:
        return self._made(name, [self._render(template, facts)], _told(left))

    def _made(self, name: LayerName, parts: list[Rendered], left: Sequence[LeftOut] = ()) -> Layer:
        text = "\n\n".join(part.text for part in parts)
        return Layer(name, text, count(text), tuple(left), tuple(part.source for part in parts))

    def _render(self, template: str, facts: Mapping[str, Any]) -> Rendered:
        rendered = self._library.render(template, self.about.company.locale, facts)
        self.warnings |= dict.fromkeys(rendered.warnings)
        return rendered

    def _data(self, text: str, label: str, most: int = 10**9) -> str:
        """A value in its fence; empty stays empty, so that a template can leave it out."""
        return fence(self._clip(text, most), label, self._nonce) if text.strip() else ""

    def _clip(self, text: str, most: int) -> str:
        most = min(most, self._length)
        # What is shown is at least half as long as what it spells: the rest of a huge text need not be looked at.
        shown = visible(text[: 2 * most + 2])
        if len(shown) <= most:
            return shown
        self._clipped += 1
        return shown[:most] + phrase(CUT, self.about.company.locale)

    def _lines(self, listing: Listing, label: str) -> list[str]:
        if not listing.lines:
            return []
        most = max(self._length // 8, 20)
        lines = [self._clip(line, most) for line in listing.lines]
        more = listing.total - len(lines)
        if more:
            lines.append(phrase("… and {} more", self.about.company.locale, more))
        return [fence("\n".join(lines), label, self._nonce)]

    def _task_call(self) -> str:
        return self._goal_call() if self.about.task is None else task_call(self.about.task)

    def _goal_call(self) -> str:
        return goal_call(self.about.goal)


def _path(text: str) -> str:
    return one_line(text, 1_000).replace("`", "'")


def _told(left: Iterable[LeftOut]) -> list[LeftOut]:
    """What was left out, each kind once."""
    found: dict[tuple[str, str], int] = {}
    for one in left:
        if one.count > 0:
            found[one.what, one.how] = found.get((one.what, one.how), 0) + one.count
    return [LeftOut(what, count, how) for (what, how), count in found.items()]


def _name_length(cut: Cut) -> int:
    """Of names that stand within sentences, in code points."""
    return max(16, min(80, cut.length))


def _as_facts(one: LeftOut) -> dict[str, Any]:
    return {"what": one.what, "count": one.count, "how": one.how}


def full(facts: PromptFacts) -> Cut:
    """Everything that was gathered."""
    return Cut(
        bodies=len(facts.knowledge), sections=len(facts.knowledge), experiences=len(facts.experiences),
        comments=len(facts.comments), predecessors=len(facts.predecessors),
        items=sum(len(other.items) for other in facts.others), length=2_000, musts=max(len(facts.musts), 50),
        reads=len(facts.api["reads"]),
    )  # fmt: skip
