"""Random commands by many actors, legal and not: no law of the board is ever broken (Hypothesis)."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from core.blackboard.fold import rebuild_and_compare
from core.domain.entities import Round, Run
from core.domain.lifecycles import LIFECYCLES
from core.domain.states import RunKind
from core.simulation.laws import broken_laws
from tests.simulation.machine_work import OF_GOALS, OF_ROUNDS, SHAPE, SLUGS, WorkMachine, pick
from tests.unit.world import OPERATOR, SYSTEM


class CommandsMachine(WorkMachine):
    """Talk, rounds, goals and questions beside the work, and what holds all along."""

    # Talk ------------------------------------------------------------------------------------------------------

    @rule(goal=pick, slug=st.sampled_from(("ada", "bob")), act=st.sampled_from(["task", "question", "decision", "no"]))
    def speak_in_a_turn(self, goal: int, slug: str, act: str) -> None:
        number = self.one("goals", goal, "status = 'planning'")
        agents = [self.wait(self.world.agent(name)).id for name in ("ada", "bob")]
        self.try_(SYSTEM, "OpenTurn", goal=number, agents=agents)
        self.start_a_run(slug, RunKind.DISCUSS, self.rank("goals", number))
        if act == "task":
            self.try_(self.newest(), "CreateTask", goal=number, title="more", **SHAPE)
        elif act != "no":
            self.try_(self.newest(), "AddComment", goal=number, kind=act, body=f"@bob {act} {goal}")
        self.end_newest()

    def rank(self, table: str, number: int, where: str = "1 = 1") -> int:
        """The number with which `one` finds this row of a table."""
        rows = self.wait(self.world.read(lambda tx: tx.all(f"SELECT id FROM {table} WHERE {where} ORDER BY id")))
        return next((place for place, row in enumerate(rows) if row["id"] == number), 0)

    @rule(number=pick)
    def close_a_turn(self, number: int) -> None:
        self.try_(SYSTEM, "CloseTurn", turn=self.one("turns", number, "ended_at IS NULL"))

    @rule(number=pick, who=pick)
    def waive_a_decision(self, number: int, who: int) -> None:
        self.try_(self.somebody(who), "WaiveDecision", decision=self.one("decisions", number), reason="no")

    @rule(explore=st.booleans(), who=pick)
    def talk_a_goal_over(self, explore: bool, who: int) -> None:
        goal = self.one("goals", who, "exploring = 1")
        if explore and who % 3 == 0:
            self.try_(OPERATOR, "CreateGoal", title="Find out", explore=True)
        self.try_(OPERATOR, "AddComment", goal=goal, kind="dialogue", body="and the links?")
        self.start_a_run("cora", RunKind.EXPLORE, self.rank("goals", goal))
        self.try_(self.newest(), "EditGoal", goal=goal, must_haves=({"text": f"links {who}", "verify": "count"},))
        self.try_(self.newest(), "AddComment", goal=goal, kind="dialogue", body="is that all?")
        self.end_newest()

    @rule(first=st.sampled_from(("ada", "bob")), goal=pick, words=st.integers(3, 8))
    def thank_each_other(self, first: str, goal: int, words: int) -> None:
        number = self.one("goals", goal)
        names = (first, {"ada": "bob", "bob": "ada"}[first])
        for word in range(words):
            self.start_a_run(names[word % 2], RunKind.STALL, self.rank("goals", number))
            self.try_(
                self.newest(), "AddComment", goal=number, kind="dialogue", body=f"Thanks, @{names[1 - word % 2]}."
            )
            self.end_newest()

    @rule(who=pick, number=pick, answer=st.sampled_from(["REJECT", "PARTIAL", "ACCEPT"]))
    def challenge(self, who: int, number: int, answer: str) -> None:
        round_ = self.one("rounds", number, "status = 'closed'")
        rows = self.wait(self.world.all(Round, "id = :id", id=round_))
        if not rows:
            return
        rank = self.rank("goals", rows[0].goal_id)
        self.start_a_run("rita", RunKind.STALL, rank)
        self.try_(self.newest(), "ChallengeRound", round=round_, facts="the archives")
        self.end_newest()
        if who % 2:
            self.start_a_run("cora", RunKind.STALL, rank)
            asked = self.one("approvals", number, "kind = 'challenge' AND status = 'pending'")
            self.try_(self.newest(), "AnswerChallenge", approval=asked, answer=answer, facts="so")
            self.end_newest()

    # Rounds, goals and questions ---------------------------------------------------------------------------------

    @rule(
        who=pick,
        number=pick,
        act=st.sampled_from(OF_ROUNDS),
        decision=st.sampled_from(["next_round", "report", "stop", "adjust_goal"]),
    )
    def move_a_round(self, who: int, number: int, act: str, decision: str) -> None:
        round_ = self.one("rounds", number, "status <> 'closed'")
        arguments: dict[str, Any] = {
            "StallRound": {"why": "so"}, "EscalateRound": {"why": "so"}, "EndRound": {"reason": "so"},
            "ChallengeRound": {"facts": "so"},
        }.get(act, {"decision": decision})  # fmt: skip
        if act == "ReviewRound":
            change = {"must_haves": ({"text": "count"}, {"text": f"more {number}"}), "why": "it grew"}
            more = {"next_round": {"tasks": ({"title": "next", **SHAPE},)}, "adjust_goal": {"goal_change": change}}
            arguments |= {"goal_clear": "y", "covered": "y", "next_step": "z", **more.get(decision, {})}
            rows = self.wait(self.world.all(Round, "id = :id", id=round_))
            self.start_a_run("cora", RunKind.ROUND_REVIEW, self.rank("goals", rows[0].goal_id) if rows else 0)
        cora = [agent for agent in self.actors if agent.slug == "cora"]
        actor = cora[-1] if cora and act == "ReviewRound" else self.somebody(who)
        self.try_(actor, act, round=round_, **arguments)

    @rule(
        who=pick,
        number=pick,
        act=st.sampled_from(OF_GOALS),
    )
    def move_a_goal(self, who: int, number: int, act: str) -> None:
        goal = self.one("goals", number)
        arguments: dict[str, dict[str, Any]] = {
            "CancelGoal": {"reason": "no"}, "ReportGoal": {"summary": "y"}, "SendBackGoal": {"note": "more"},
            "OpenTurn": {"agents": (5, 6)}, "WaiveMustHave": {"must_have": "M1"},
        }  # fmt: skip
        actor = self.somebody(who)
        if act == "CancelGoal" and number % 3:
            return
        if act in ("ReportGoal", "ActivateGoal"):
            self.start_a_run("cora", RunKind.REPORT, self.rank("goals", goal))
            actor = self.newest()
        self.try_(actor, act, goal=goal, **arguments.get(act, {}))

    @rule(number=pick, decision=st.sampled_from(["next_round", "report", "stop", "adjust_goal"]), report=st.booleans())
    def end_a_round(self, number: int, decision: str, report: bool) -> None:
        """The operator ends it, the coordinator reviews it, and perhaps reports what the operator waived."""
        round_ = self.one("rounds", number, "status IN ('open', 'stalled')")
        rows = self.wait(self.world.all(Round, "id = :id", id=round_))
        self.try_(OPERATOR, "EndRound", round=round_, reason="enough")
        self.move_a_round(number, self.rank("rounds", round_, "status <> 'closed'"), "ReviewRound", decision)
        self.end_newest()
        if report and rows:
            self.try_(OPERATOR, "WaiveMustHave", goal=rows[0].goal_id, must_have="M1")
            self.start_a_run("cora", RunKind.REPORT, self.rank("goals", rows[0].goal_id))
            self.try_(self.newest(), "ReportGoal", goal=rows[0].goal_id, summary="all that there is")
            self.end_newest()

    @rule(number=pick, decision=st.sampled_from(["approved", "rejected", "revision_requested"]), who=pick)
    def decide(self, number: int, decision: str, who: int) -> None:
        question = self.one("approvals", number, "status = 'pending'" if number % 4 else "1 = 1")
        actor = OPERATOR if who % 4 else self.somebody(who)
        self.try_(actor, "DecideApproval", approval=question, decision=decision, note="so")

    @rule(who=pick, task=pick, number=pick)
    def use_an_approval(self, who: int, task: int, number: int) -> None:
        question = self.one("approvals", number, "status = 'approved'")
        use = {"approval": question, "approved_payload": {"path": "old"}}
        task_id = self.one("tasks", task, "status = 'working'")
        self.try_(self.somebody(who), "AddOutput", task=task_id, type="other", title="x", content="y", **use)

    @rule(slug=st.sampled_from(SLUGS[1:]), pause=st.booleans())
    def pause_or_resume(self, slug: str, pause: bool) -> None:
        self.try_(OPERATOR, "PauseAgent" if pause else "ResumeAgent", agent=slug)

    @rule(chance=st.integers(0, 7))
    def stop_and_start(self, chance: int) -> None:
        if chance:
            return
        self.try_(OPERATOR, "StopCompany")
        self.try_(OPERATOR, "StartCompany")

    @rule(ms=st.integers(-60_000, 120_000))
    def let_time_pass(self, ms: int) -> None:
        self.world.clock.advance(ms)

    @rule(who=pick, task=pick)
    def comment(self, who: int, task: int) -> None:
        body = f"@{SLUGS[who % 6]} and @{SLUGS[task % 6]}?"
        self.try_(self.somebody(who), "AddComment", task=self.one("tasks", task), kind="question", body=body)

    # What always holds -------------------------------------------------------------------------------------------

    @invariant()
    def no_law_is_broken(self) -> None:
        assert self.wait(self.world.read(broken_laws)) == []

    @invariant()
    def every_change_of_a_status_is_in_the_table(self) -> None:
        rows = self.wait(
            self.world.read(
                lambda tx: tx.all(
                    "SELECT id, entity, entity_id, changed ->> '$.status' AS status FROM events"
                    " WHERE id > :seen AND changed ->> '$.status' IS NOT NULL ORDER BY id",
                    seen=self.seen,
                )
            )
        )
        for row in rows:
            self.seen = row["id"]
            cycle = LIFECYCLES.get(row["entity"].removesuffix("s"))
            if cycle is None:
                continue
            thing = (row["entity"], row["entity_id"])
            before = self.states.get(thing)
            self.states[thing] = row["status"]
            if before == row["status"]:
                continue
            legal = {move.target for move in cycle.moves if move.source == before}
            assert row["status"] in legal, (thing, before, row["status"])

    @invariant()
    def who_has_gone_can_write_nothing(self) -> None:
        live = {run.id for run in self.wait(self.world.all(Run, "status IN ('starting', 'running')"))}
        self.gone += [actor for actor in self.actors if actor.run_id not in live]
        self.actors = [actor for actor in self.actors if actor.run_id in live]
        if self.gone:
            assert self.try_(self.gone[self.seen % len(self.gone)], "AddComment", task=1, body="still here") is None

    @invariant()
    def the_tables_are_what_the_events_tell(self) -> None:
        if self.seen % 7 == 0:
            assert self.wait(self.world.read(lambda tx: rebuild_and_compare(tx.connection))) == []
