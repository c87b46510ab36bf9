"""The coordinator in an exploration: one question at a time, and the goal grows by the answers (S2-07)."""

import re
from typing import Any

from core.agents.rehearsal.shift import Shift, no_reply
from core.agents.rehearsal.understanding import (
    Topic,
    Wish,
    next_topic,
    pieces,
    says_nothing,
    says_yes,
    wish_of,
)
from core.agents.rehearsal.words import cut, listed, named, plain
from core.agents.rehearsal.works import WORKS, work_of
from core.agents.runner import Outcome
from core.domain.actors import HUMAN
from core.domain.entities import Comment, Goal, MustHave
from core.domain.states import CommentKind, GoalStatus

READ_ONLY = "Read only: nothing in the folder is changed."
NO_QUOTES = "No line of its files is quoted in the report without the operator's word."
OFFERS = {
    "inventory": "an inventory of the languages",
    "marks": "the TODO and FIXME marks",
    "history": "the largest and the longest-untouched files",
    "documentation": "a check of the documentation",
    "duplicates": "exact duplicates",
    "closer_look": "a closer look at the largest finding",
}
# A question is known again by how it begins.
BEGINS = {
    Topic.WHAT: "What should be known about the folder",
    Topic.VERIFY: "How can one see that",
    Topic.LIMITS: "What may not be done or quoted",
    Topic.SCOPE: "What is out of scope",
    Topic.READY: "Is it ready",
}


async def explore(shift: Shift) -> Outcome:
    """Take the operator's last answer in, then ask the next question."""
    goal = await shift.goal()
    if goal.status != GoalStatus.DRAFT or not goal.exploring:
        return no_reply(f"{goal.name_tag} is not explored any more")
    talk = await shift.find(
        Comment, "goal_id = :goal AND task_id IS NULL AND kind = 'dialogue' ORDER BY id", goal=goal.id
    )
    if talk and talk[-1].author != HUMAN:
        return no_reply("it is the operator's turn")
    asked = [topic for comment in talk if comment.author != HUMAN and (topic := topic_of(comment.body))]
    heard = ""
    if talk and asked:
        goal, heard = await take_in(shift, goal, asked[-1], talk)
    elif talk:
        goal, heard = await add_works(shift, goal, wish_of(talk[-1].body), talk[-1].body)
    goal = await fill_in(shift, goal)
    topic = next_topic(
        asked, has_works=bool(goal.must_haves), to_verify=any(not must.get("verify") for must in goal.must_haves)
    )
    body = f"{heard} {question(shift, goal, topic)}".strip()
    await shift.act("AddComment", goal=goal.id, kind=CommentKind.DIALOGUE, body=body)
    return Outcome(detail=f"asked: {BEGINS[topic]}")


def topic_of(body: str) -> Topic | None:
    """Which question a word of ours ended with."""
    found = [(body.rfind(begin), topic) for topic, begin in BEGINS.items() if begin in body]
    return max(found)[1] if found else None


async def take_in(shift: Shift, goal: Goal, topic: Topic, talk: list[Comment]) -> tuple[Goal, str]:
    """What the operator said after the last question, all of it, as an edit of the goal; and what we say to it."""
    last_own = max(comment.id for comment in talk if comment.author != HUMAN)
    text = "\n".join(comment.body for comment in talk if comment.id > last_own)
    match topic:
        case Topic.WHAT:
            return await add_works(shift, goal, wish_of(text), text)
        case Topic.VERIFY:
            return await take_verify(shift, goal, text, talk)
        case Topic.LIMITS:
            more = () if says_nothing(text) else (f"The operator: “{cut(plain(text), 500)}”",)
            constraints = tuple(dict.fromkeys((*goal.constraints, READ_ONLY, NO_QUOTES, *more)))
            goal = await edit(shift, goal, constraints=constraints)
            said = (
                "Noted word for word; each agent reads it with its task." if more else "Then the two usual ones hold:"
            )
            return goal, said if more else f"{said} nothing is changed, and nothing is quoted without your word."
        case Topic.SCOPE:
            if says_nothing(text):
                return goal, "Then nothing is."
            goal = await edit(shift, goal, out_of_scope=tuple(dict.fromkeys((*goal.out_of_scope, *pieces(text)))))
            said = "Noted. To be honest: our audits read every file that git lists and cannot leave a part out;"
            return goal, f"{said} the report names what you do not care for, but the totals hold it too."
        case Topic.READY:
            wish = wish_of(text)
            if wish.is_empty:
                return goal, "Then press ready: only you can." if says_yes(text) else not_understood(text)
            return await add_works(shift, goal, wish, text)


async def add_works(shift: Shift, goal: Goal, wish: Wish, text: str) -> tuple[Goal, str]:
    """Must-haves for the works that were named; those that are not wanted go."""
    if wish.is_empty:
        return goal, not_understood(text)
    musts = [must for must in goal.must_haves if (work := work_of(must)) is None or work.kind not in wish.unwanted]
    there = {work.kind for must in musts if (work := work_of(must)) is not None}
    new = [kind for kind in wish.wanted if kind not in there]
    drafts = [*map(draft_of, musts), *({"text": WORKS[kind].must_have, "verify": WORKS[kind].verify} for kind in new)]
    goal = await edit(shift, goal, must_haves=tuple(drafts))
    said = [f"{listed([OFFERS[kind] for kind in new])}: taken in." if new else ""]
    said.append(f"Left out: {listed([OFFERS[kind] for kind in wish.unwanted])}." if wish.unwanted else "")
    return goal, " ".join(filter(None, said)) or "That is in the goal already."


def not_understood(text: str) -> str:
    """Honest: no model reads this."""
    return (
        f"I have no model and know only the names of our works, and none is in “{named(text, 120)}”. If it should stand"
        " in the goal, write it there yourself: I shall ask how one can see that it is there."
    )


async def take_verify(shift: Shift, goal: Goal, text: str, talk: list[Comment]) -> tuple[Goal, str]:
    """The answer is how the must-have of the last question is verified, in the operator's words."""
    asked = next(comment.body for comment in reversed(talk) if comment.author != HUMAN)
    found = re.search(re.escape(BEGINS[Topic.VERIFY]) + r" (M\d+)", asked)
    drafts = [draft_of(must) for must in goal.must_haves]
    for draft in drafts:
        if found and draft["id"] == found[1]:
            draft["verify"] = cut(plain(text), 1000)
    return await edit(shift, goal, must_haves=tuple(drafts)), "Noted as you said it."


async def fill_in(shift: Shift, goal: Goal) -> Goal:
    """Must-haves that the operator wrote themself and that are works of ours get our way to verify them."""
    lacking = [must for must in goal.must_haves if not must.get("verify") and work_of(must) is not None]
    if not lacking:
        return goal
    drafts = [draft_of(must) for must in goal.must_haves]
    for draft, must in zip(drafts, goal.must_haves, strict=True):
        work = work_of(must)
        if must in lacking and work is not None:
            draft["verify"] = work.verify
    return await edit(shift, goal, must_haves=tuple(drafts))


def draft_of(must: MustHave) -> dict[str, str]:
    """A must-have as EditGoal takes it, with its id."""
    return {"id": must["id"], "text": must["text"], "verify": must.get("verify", "")}


async def edit(shift: Shift, goal: Goal, **changes: Any) -> Goal:
    """Change the goal; the same change again changes nothing."""
    await shift.act("EditGoal", goal=goal.id, **changes)
    return await shift.goal()


def question(shift: Shift, goal: Goal, topic: Topic) -> str:
    """One question, in one go."""
    match topic:
        case Topic.WHAT:
            offers = listed([f"{text} ({kind.replace('_', ' ')})" for kind, text in OFFERS.items()])
            return (
                f"{BEGINS[topic]} {named(shift.folder_name, 120)}? What we can find out: {offers}."
                " Name some of them, or all of them."
            )
        case Topic.VERIFY:
            must = next(must for must in goal.must_haves if not must.get("verify"))
            return (
                f"None of us can do {must['id']} as it stands; you could take it out, or hire somebody who can."
                f" {BEGINS[topic]} {must['id']} (“{named(must['text'], 200)}”) is there?"
            )
        case Topic.LIMITS:
            return (
                f"{BEGINS[topic]}? Say it in your words; if there is nothing, “no” will do. We only read in any case."
            )
        case Topic.SCOPE:
            return f"{BEGINS[topic]}? List it with commas; if there is nothing, “no” will do."
        case Topic.READY:
            musts = "; ".join(f"{must['id']} {named(must['text'], 120)}" for must in goal.must_haves)
            beyond = [must["id"] for must in goal.must_haves if work_of(must) is None]
            honest = f" Nobody here can deliver {listed(beyond)}: you would have to waive it later." if beyond else ""
            return (
                f"The goal is now: {musts}. Each of them has a way to be verified.{honest} {BEGINS[topic]}? Press ready"
                " when it is; or name what is to come in or to be left out."
            )
