"""The shipped templates: each renders, is short, says what its role owes, and names no call (S3, S4)."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from core.commands.registry import REGISTRY
from core.domain.limits import (
    EXPERIENCE_PREFIX,
    HANDOFF_MAX,
    HANDOFF_MIN,
    OBJECTION_WINDOW_MS,
    OBSERVATION_MAX,
)
from core.domain.reviewing import ASKS, FREEDOM
from core.domain.states import Freedom, RebuttalAnswer, RoundDecision, Verdict
from core.prompting.catalogue import LOCALES, TEMPLATES
from core.prompting.counting import tokens
from core.prompting.templates import TOKENS_MAX, shipped_library


def samples(name: str) -> dict[str, Any]:
    """The fullest sample facts of a template."""
    return TEMPLATES[name][0]


def render(name: str, locale: str, **changed: Any) -> str:
    shown = shipped_library().render(name, locale, samples(name) | changed)
    assert not shown.warnings
    return shown.text


def values_in(facts: object) -> Iterator[str]:
    """Every text in facts, however deep."""
    if isinstance(facts, str):
        yield facts
    elif isinstance(facts, dict | list):
        for part in facts.values() if isinstance(facts, dict) else facts:
            yield from values_in(part)


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("name", TEMPLATES)
def test_each_text_renders_is_short_and_begins_with_a_heading_of_its_own(name: str, locale: str) -> None:
    text = render(name, locale)
    assert tokens(text) <= TOKENS_MAX, tokens(text)
    assert text.startswith("## ")
    assert text.count("\n## ") == 0
    assert not any(mark in text for mark in ("{{", "{%", "\n\n\n"))


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("name", [name for name in TEMPLATES if name.startswith("roles/")])
def test_no_role_names_a_call(name: str, locale: str) -> None:
    words = set(re.findall(r"[A-Za-z]+", render(name, locale)))
    assert not words & set(REGISTRY)


# What each text must say, by its row: a mark in English and one in Chinese.
SHARED = (
    ("S2-41", "Separation", "分离"), ("S2-41", "Alignment", "对齐"), ("S2-41", "Cohesion", "凝聚"),
    ("S2-41", "Boundary", "边界"), ("S3-01", "**Intent.**", "**意图。**"), ("S3-05", "channel", "只用黑板"),
    ("F15", "<data …>", "<data …>"),
    ("F15", "with its number, other such marks too", "同编号的 `</data …>` 之间（含别的标记）"),
)  # fmt: skip
VERDICTS = tuple(("S3-14", f"`{verdict}`", f"`{verdict}`") for verdict in Verdict)
ANSWERS = tuple(("S3-17", str(answer), str(answer)) for answer in RebuttalAnswer)
REDUCED = ("S3-29", "dropped or made smaller without a word", "悄悄丢弃或缩小")
DONE = ("S3-01", "one when**", "完成的标志")
MARKS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "roles/executor": (
        *SHARED, REDUCED, DONE,
        ("S3-07", "What is told here will do", "这里写明的就够了"),
        ("S3-08", "real content", "有实际内容"), ("S3-08", "handed in for review", "已提交评审"),
        ("S3-09", f"begins exactly with `{EXPERIENCE_PREFIX}`", f"以 `{EXPERIENCE_PREFIX}` 原样开头"),
        ("C-01", f"{HANDOFF_MIN}–{HANDOFF_MAX} characters", f"{HANDOFF_MIN}–{HANDOFF_MAX} 字"),
        ("S4-05", "decisions and why, problems and what solved them, advice", "决定和理由、问题和解法、给接手者的建议"),
        ("S3-12", "(`failed`) without the reason", "不写原因就放弃（`failed`）"),
        ("S3-13", f"{OBJECTION_WINDOW_MS // 1000} seconds", f"{OBJECTION_WINDOW_MS // 1000} 秒"),
        ("S3-13", "you judge", "由你判断"),
        ("S4-07", "at once, as an observation", "马上以观察写上黑板"), ("S4-08", "`waiting_human`", "`waiting_human`"),
        ("S4-08", "data deletion, live trading, production change", "删除数据、实盘交易、变更生产环境"),
        ("S4-09", "the way there is yours", "都由你决定"),
    ),
    "roles/reviewer": (
        *SHARED, *VERDICTS, REDUCED, DONE,
        ("S3-15", "**Honest limits.**", "**诚实的边界。**"),
        ("S2-22", '"Could be better" is no finding', "“可以更好”不是发现"),
        ("S2-22", "because of what", "依据是什么"), ("S3-18", "never your own work", "绝不评审自己的工作"),
        ("S3-14", "say what is good", "说明好在哪里"), ("S3-14", "say where it should lead", "说明应当往哪里走"),
    ),
    "roles/challenger": (
        *SHARED, *VERDICTS, *ANSWERS,
        ("S3-29", "no longer there, though nobody said so", "不声不响地没了"),
        ("S3-15", "**Honest limits.**", "**诚实的边界。**"),
        ("S2-22", "because of which fact", "依据哪个事实"), ("S3-16", "always count as high risk", "一律按高风险"),
        ("S3-18", "never your own work", "绝不评审自己的工作"), ("S2-31", "challenge it, once a round", "每轮一次"),
    ),
    "roles/coordinator": (
        *SHARED, REDUCED, DONE,
        ("S2-11", "Is the goal still clear", "目标还清晰吗"),
        ("S2-11", "Do the outputs cover the goal?", "成果覆盖目标了吗"),
        ("S2-11", "What comes next?", "下一步做什么"), ("S3-19", "exactly one decision", "恰好有一个决定"),
        ("S3-19", "If it drifts", "一旦漂移"), ("S3-19", "held by the system", "由系统把守"),
        ("S2-38", "neither theirs to decide nor a red line", "既不该由操作员决定、又不涉及红线"),
    ),
    "roles/planner": (
        *SHARED, DONE,
        ("S3-20", "an end state that somebody else can verify", "终态可由别人验证"),
        ("S3-20", "what it waits for, its risk", "等待什么、风险"), ("S3-20", "ask `@operator`", "问 `@operator`"),
        ("S3-20", "A plan lives", "计划是活的"), ("S3-07", "no further look for its own sake", "不为了对齐而多查"),
    ),
    "roles/ceo": (*SHARED, DONE, ("S1-20", "silence taken for a yes", "把沉默当作同意")),
    "broadcast/claim": (
        ("S3-02", "**Claim.**", "**认领。**"), ("S3-02", "**Observation.**", "**观察。**"),
        ("S3-02", "**`NO_REPLY`.**", "**`NO_REPLY`。**"), ("S3-04", "At most one claim", "最多认领一个"),
        ("S3-03", f"at most {OBSERVATION_MAX} characters", f"不超过 {OBSERVATION_MAX} 字"),
        ("S3-03", "your domain really meets it", "确有交叉"), ("S3-26", "changes nothing by itself", "不改变任何状态"),
        ("S3-07", "enough to answer", "足以回应"),
    ),
    "phases/round-review": (
        ("S2-12", "round 2 is over", "第 2 轮已结束"), ("S3-19", "The cap is 8 rounds", "上限为 8 轮"),
        ("S3-19", "exactly one decision", "恰好作出一个决定"),
        *(("S2-12", f"`{decision}`", f"`{decision}`") for decision in RoundDecision),
    ),
    "phases/discuss": (
        ("S2-30", "Turn 1 of at most 5", "第 1 轮发言，最多 5 轮"), ("S2-30", "the coordinator rules", "由协调者裁决"),
    ),
    "phases/explore": (("S2-07", "the one question", "那一个问题"),),
    "phases/report": (("S2-14", "key findings", "主要发现"), ("F10", "waiver", "豁免")),
    "mail/inform": (("S3-32", "no answer", "不要求回复"),),
    "mail/request": (("S3-32", "Answer once", "回复一次"),),
    "talk/mention": (("F7", "Answer once", "回复一次"),),
    "talk/delegate": (("S3-21", "an end state", "终态"),),
    "layers/predecessors": (("S4-10", "Read the handoffs first", "先读交接"),),
    "layers/guardrails": (("D-03", "once; silence is no yes", "沉默不是许可"),),
}  # fmt: skip
SAID = [(name, *mark) for name, marks in MARKS.items() for mark in marks]


@pytest.mark.parametrize(("name", "row", "english", "chinese"), SAID)
def test_each_text_says_what_its_rows_ask(name: str, row: str, english: str, chinese: str) -> None:
    assert english in " ".join(render(name, "en").split("\n")), row
    assert chinese in render(name, "zh"), row


@pytest.mark.parametrize("locale", LOCALES)
def test_each_side_of_a_verdict_is_told_its_part_and_no_others(locale: str) -> None:
    told = {role: render("layers/review", locale, role=role) for role in ("executor", "reviewer", "coordinator")}
    for text in told.values():
        assert all(str(answer) in text for answer in RebuttalAnswer)
        assert all(f"`{name}`" in text for name in (*Verdict, *ASKS))
    assert len(set(told.values())) == len(told)


@pytest.mark.parametrize("locale", LOCALES)
def test_a_reviewer_is_told_how_freely_each_point_is_judged_and_how_deep_to_look(locale: str) -> None:
    text = render("layers/review", locale, role="reviewer")
    grades = {
        grade: [line for line in text.split("\n") if any(f"`{d}`" in line for d in ASKS if FREEDOM[d] == grade)]
        for grade in (Freedom.LOW, Freedom.MID)
    }
    words = {"en": {"low": "low:", "mid": "mid:"}, "zh": {"low": "低自由度", "mid": "中自由度"}}[locale]
    assert all(lines and all(words[grade] in line for line in lines) for grade, lines in grades.items())
    assert (
        len({render("layers/review", locale, role="reviewer", risk=risk) for risk in ("high", "standard", "low")}) == 3
    )


@pytest.mark.parametrize("locale", LOCALES)
def test_what_a_layer_is_given_stands_in_it(locale: str) -> None:
    for name in TEMPLATES:
        if name.startswith("layers/"):
            text, facts = render(name, locale), samples(name)
            lost = [
                value for value in values_in(facts) if value.startswith("<data") and f"\n{value}\n" not in f"{text}\n"
            ]
            assert not lost, name


@pytest.mark.parametrize("locale", LOCALES)
def test_a_layer_without_facts_leaves_no_label_behind(locale: str) -> None:
    for name in ("layers/self", "layers/project", "layers/task", "layers/predecessors", "layers/api"):
        full, sparse = TEMPLATES[name][:2]
        text = render(name, locale, **sparse)
        assert len(text) < len(render(name, locale, **full))
        assert not re.search(r"[:：]\n*\Z", text), name
