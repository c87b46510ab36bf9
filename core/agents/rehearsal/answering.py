"""What wakes an agent by its name: the operator's notes, a colleague's question, a challenge of a round's review."""

from core.agents.rehearsal.asking import give_up
from core.agents.rehearsal.colleagues import holder_of
from core.agents.rehearsal.coordinator import ground
from core.agents.rehearsal.judging import judge
from core.agents.rehearsal.mail import answer_person, unanswered
from core.agents.rehearsal.meetings import meeting_of
from core.agents.rehearsal.planning import make_missing
from core.agents.rehearsal.shift import Shift, no_reply
from core.agents.rehearsal.words import counted, listed
from core.agents.rehearsal.works import ALL_WORKS, beyond_us, first_kinds
from core.agents.runner import Outcome
from core.domain.actors import HUMAN
from core.domain.entities import AgentRecord, Approval, Comment, Goal, Round
from core.domain.states import CommentKind, GoalStatus, RebuttalAnswer, Role


async def answer(shift: Shift) -> Outcome:
    """Each word that waits for this agent gets one answer; nobody is woken by it (F7)."""
    leads = shift.assignment.agent.role == Role.COORDINATOR
    goal = await shift.goal() if shift.assignment.run.goal_id is not None else None
    answered = 0
    if leads and goal is not None:
        answered += await answer_challenge(shift, goal)
    for word in await unanswered(shift):
        if word.goal_id is None:
            continue  # a letter about the company: there is no thread to answer it in
        if word.author == HUMAN:
            if goal is None or not (leads and goal.exploring):
                answered += await answer_person(shift, word)
        elif word.kind == CommentKind.QUESTION:
            answered += await (rule_on if leads else answer_colleague)(shift, word)
    return Outcome(detail=counted(answered, "answer")) if answered else no_reply("nothing here asks anything of me")


async def reply(shift: Shift, word: Comment, body: str) -> bool:
    """An answer below the word that asked; a note wakes nobody."""
    about = {"task": word.task_id} if word.task_id is not None else {"goal": word.goal_id}
    await shift.act("AddComment", body=body, kind=CommentKind.NOTE, reply_to=word.id, **about)
    return True


async def answer_colleague(shift: Shift, word: Comment) -> bool:
    """Where the domains meet there is a real answer; else what one can do."""
    authors = await shift.find(AgentRecord, "slug = :slug", slug=word.author)
    can = authors[0].capabilities if authors else ()
    kinds = [kind for kind, work in ALL_WORKS.items() if work.capability in can]
    meeting = next((found for kind in kinds if (found := meeting_of(kind, word.body))), None)
    if meeting is not None:
        return await reply(shift, word, meeting.answer)
    mine = ", ".join(shift.assignment.agent.capabilities) or str(shift.assignment.agent.role)
    return await reply(shift, word, f"I do {mine}, as the tasks say; to that question I know no answer.")


async def rule_on(shift: Shift, word: Comment) -> bool:
    """What becomes of must-haves that nobody in the discussion can do."""
    goal = await shift.goal()
    if goal.status != GoalStatus.PLANNING:
        return await reply(shift, word, f"{goal.name_tag} is {goal.status}: its plan is settled.")
    if not first_kinds(goal):
        await give_up(shift, goal, "none of its must-haves is work that the rehearsal agents can do")
        return await reply(shift, word, "None of it is work that we can do: I asked the operator to give it up.")
    lacking = [kind for kind in first_kinds(goal) if await holder_of(shift, ALL_WORKS[kind].capability) is None]
    made = await make_missing(shift, goal, frozenset(lacking))
    said = [f"{listed([f'T{number}' for number in made])}: open to everybody, any of us can run that audit."] * bool(
        made
    )
    if beyond := [must["id"] for must in beyond_us(goal)]:
        said.append(f"{listed(beyond)}: only the operator can waive it; I ask before the report, and we do the rest.")
    return await reply(shift, word, " ".join(said) or "All of it has its tasks now.")


async def answer_challenge(shift: Shift, goal: Goal) -> bool:
    """Judge the challenged round again from the board's facts, and say so once; the operator decides."""
    asked = await shift.find(
        Approval, "entity = :goal AND kind = 'challenge' AND status = 'pending'", goal=f"goal:{goal.id}"
    )
    answered = "goal_id = :goal AND author = :slug AND kind = 'rebuttal' AND created_at >= :since LIMIT 1"
    since = asked[0].created_at if asked else 0
    if not asked or await shift.find(Comment, answered, goal=goal.id, slug=shift.slug, since=since):
        return False
    rounds = await shift.find(Round, "id = :id", id=int(asked[0].payload["round"]))
    again = judge(await ground(shift, rounds[0]))
    same = again.decision == rounds[0].decision
    facts = f"Judged again from the board: {again.covered} Next: {again.next_step}"
    which = RebuttalAnswer.REJECT if same else RebuttalAnswer.ACCEPT
    await shift.act("AnswerChallenge", approval=asked[0].id, answer=which, facts=facts)
    return True
