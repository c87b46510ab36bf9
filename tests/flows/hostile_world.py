"""A company in which every text that an agent, a person or a program can write is an attack on the terminal."""

from typing import Any

from core.agents.transcript import Transcripts
from core.commands.registry import parse
from core.domain.actors import System
from core.domain.entities import Task
from core.domain.limits import EXPERIENCE_PREFIX, TITLE_MAX
from core.domain.permissions import Change, Wish, asked
from tests.flows.world import LOOKED_AT, Office, approved, at_work, handed_in
from tests.unit.test_cli_prompts import keep

MARK = "§"
"""Stands in every hostile text, so that a test finds the fields that hold none."""

ATTACKS = {
    "markup": "[/f] [@click=app.exit]x[/] [red]R [",
    "title": "\x1b]0;t\x07",
    "clipboard": "\x1b]52;c;cHdu\x1b\\",
    "hyperlink": "\x1b]8;;//evil\x1b\\l",
    "notification": "\x1b]777;notify;a\x07\x1b]9;x\x07",
    "screen": "\x1b[2J\x1bc",
    "colour": "\x1b[31;7mred",
    "eight bit": "\x9b2J\x9d0;x\x9c",
    "controls": "a\x00b\x07c\x08d\x7f",
    "bidi": "\u202egnp\u2066\u200f",
    "zero width": "z\u200bw\ufeff\u2060",
    "tags": "\U000e0041\U000e0042",
    "selectors": "v\ufe0f\ufe0e",
    "marks": "Z" + "\u0301" * 8,
    "orphan": "\u0338",
    "wide": "宽字符",
    "emoji": "👩‍🚒🇩🇪👍🏽1️⃣❤️",
    "right to left": "مهمة 12 עברית",
}
LINE = MARK + " " + " ".join(ATTACKS.values())  # for what has to be one line
TEXT = "\n".join([MARK, *ATTACKS.values(), "two\r\nlines\r\tand a tab\x0b\x0c\x85\u2028\u2029", "W" * 1_200, LINE])
LONG = TEXT + "L" * 12_000
HUGE = "\n".join([TEXT, "h\x1b[31m" * 200_000, "宽" * 50_000, "Z" + "\u0301" * 50_000, "[" * 50_000])
"""For files: a line of 1.2 million characters, and others that are slow for those who measure them twice."""
assert len(LINE) <= TITLE_MAX


async def a_hostile_company(office: Office) -> None:
    """Goals, tasks, outputs, verdicts, questions, mail, runs, prompts, knowledge: all with hostile texts."""
    await office.do("EditCompany", name=LINE, mission=TEXT)
    for slug in ("ceo", "coordinator", "inventory", "links", "reviewer"):
        await office.do("EditAgent", agent=slug, name=f"{slug} {LINE[:60]}", duties=LINE)
    goal = await _a_goal(office)
    await _tasks(office, goal)
    await _delivered_and_disputed(office)
    await _asked(office, goal)
    await _a_round(office)
    await _said_by_runs(office)
    await _kept_beside_the_board(office)


async def _a_goal(office: Office) -> int:
    ceo = await office.agent("ceo", "propose")
    wants = {
        "description": LONG,
        "must_haves": [LINE, {"text": f"2 {LINE[:190]}", "verify": TEXT}],
        "constraints": [TEXT],
        "out_of_scope": [TEXT],
    }
    first = await office.do("CreateGoal", ceo, title=LINE, split=False, **wants)
    await office.do("AddComment", ceo, goal=first["id"], kind="plan", body=TEXT)
    await office.end(ceo, detail=TEXT)
    goal = int(first["id"])
    await office.do("ReviewGoal", goal=goal)
    await office.do("DispatchGoal", goal=goal)
    return goal


async def _tasks(office: Office, goal: int) -> None:
    coordinator = await office.agent("coordinator", "plan", goal_id=goal)
    await office.do("CancelTask", task=1, reason=LINE)
    for must in (["M1"], ["M2"], ["M1"], ["M1"]):
        await office.do(
            "CreateTask", coordinator, goal=goal, title=LINE, intent=TEXT, end_state=TEXT, constraints=[TEXT],
            must_haves=must, arguments={LINE: TEXT}, tags=[LINE[:40]],
        )  # fmt: skip
    await office.do("ActivateGoal", coordinator, goal=goal)
    await office.end(coordinator)


async def _delivered_and_disputed(office: Office) -> None:
    author = await at_work(office, 2, "inventory")
    folder = office.company.folder / "outputs"
    folder.mkdir(exist_ok=True)
    for name in ("huge.md", "huge.py", "huge.csv", "huge.json", "huge.diff", "§ \x1b[31mevil\u202e.txt"):
        (folder / name).write_bytes(HUGE.encode())
        await office.do("AddOutput", author, task=2, type="other", title=LINE, summary=TEXT, path=name)
    for type, content in (
        ("document", LONG), ("code", LONG), ("data", LONG), ("config", LONG), ("other", LONG),
        ("document", "\n".join(f"| {text} | b |\n|---|---|\n| c | {text} |\n" for text in ATTACKS.values())),
        ("data", "\n".join(f"{text},{number}" for number, text in enumerate(ATTACKS.values()))),
    ):  # fmt: skip
        await office.do(
            "AddOutput", author, task=2, type=type, title=LINE, summary=TEXT, content=content, must_haves=["M1"]
        )
    handoff = f"{LINE}\n{EXPERIENCE_PREFIX} {LINE}"
    await office.do("AddComment", author, task=2, kind="handoff", body=handoff)
    await office.do("SubmitTask", author, task=2)
    await office.end(author, detail=TEXT)
    judge = await office.agent("reviewer", "review", task_id=2)
    finding = {"what": TEXT, "where": LINE, "change": LINE, "because": TEXT, "criterion": "M1"}
    await office.do(
        "ReviewTask", judge, task=2, verdict="needs_revision", summary=TEXT, findings=[finding],
        opened_outputs=[1], dimensions=dict.fromkeys(LOOKED_AT, LINE),
    )  # fmt: skip
    await office.end(judge)
    author = await office.agent("inventory", "execute", task_id=2)
    await office.do("RebutReview", author, task=2, answer="REJECT", facts=TEXT)
    await office.end(author)


async def _asked(office: Office, goal: int) -> None:
    for _ in range(2):
        await office.do("CreateGoal", title=LINE, description=LONG, must_haves=[LINE], split=False)
    await office.do("CancelGoal", goal=3, reason=LINE)
    chat = {"kind": "chat", "url": "http://127.0.0.1:1/v1", "model": LINE}
    await office.do("EditAgent", agent="links", runner=chat)
    links = await at_work(office, 3, "links")
    for kind in ("note", "observation", "question", "objection"):
        await office.do("AddComment", links, task=3, kind=kind, body=LINE if kind == "observation" else TEXT)
    await office.do("AddComment", links, task=3, kind="mail_request", body=f"@inventory {LONG}")
    await office.do("AddComment", links, task=3, kind="mail_inform", body=f"@inventory {TEXT}")
    await office.do("SpeakToRun", run=links.run_id, text=TEXT[:2_000])
    wish = Wish(LINE, "command", "/srv", command=LINE, details=TEXT, changes=(Change("§/\x1b[31m", TEXT, LONG),))
    await office.company.execute(parse("AskPermission", asked(wish)), actor=links)
    await office.do("AskOperator", links, task=3, kind="red_line", title=LINE, payload={LINE: TEXT, "list": [LINE]})
    stuck = await at_work(office, 4, "inventory")
    await office.do("BlockTask", stuck, task=4, block_kind="needs_input", reason=LINE)
    await office.end(stuck, detail=TEXT)
    ceo = await office.agent("ceo", "mention")
    await office.do("ProposeHire", ceo, slug="scout", name=f"scout {LINE[:60]}", role="executor", why=TEXT)
    changes = [{"agent": "links", "duties": f"all {LINE[:190]}"}]
    await office.do("ProposeOrganisation", ceo, changes=changes, why=TEXT)
    await office.end(ceo)
    await office.do("AddComment", goal=goal, kind="note", body=f"@links {TEXT}")


async def _said_by_runs(office: Office) -> None:
    """The live run on T3: its transcript, its session, its prompt."""
    runs = await office.company.board.readers.all("SELECT id FROM runs ORDER BY id")
    writing = Transcripts(office.company.folder / "runs", office.clock)
    lines: tuple[tuple[str, dict[str, Any]], ...] = (
        ("text", {"text": HUGE}), ("thought", {"text": TEXT}), ("plan", {"text": TEXT}),
        ("tool", {"id": "1", "name": LINE, "arguments": TEXT}), ("result", {"id": "1", "text": HUGE}),
        ("call", {"command": LINE, "arguments": {LINE: TEXT}, "answer": {LINE: TEXT}}),
        ("refused", {"command": LINE, "error": TEXT}), ("notice", {"text": TEXT}), (LINE, {LINE: TEXT}),
    )  # fmt: skip
    for row in runs:
        for kind, facts in lines if row["id"] == runs[-1]["id"] or row["id"] % 4 == 0 else lines[1:2]:
            writing.opened(row["id"])(kind, dict(facts))
    writing.stop()
    await keep(office.company, runs[-1]["id"])


async def _kept_beside_the_board(office: Office) -> None:
    place = office.company.folder / "knowledge"
    place.mkdir(exist_ok=True)
    section = f"# {LINE}\n\n{TEXT}\n\n## {LINE}\n\n{TEXT}".replace("\0", "")  # with it, it would be binary
    (place / "§ \x1b[31mlinks.md").write_bytes(section.encode())
    (place / "huge.md").write_bytes(HUGE.encode())
    assert office.company.knowledge is not None
    await office.company.knowledge.renew()
    await office.do("PauseAgent", agent="reviewer", reason=LINE)
    await office.do("StopCompany", reason=LINE)
    office.clock.forward(60)


async def _a_round(office: Office) -> None:
    """The second goal comes to the end of its round, with a decision on the way and a word against it."""
    goal = 2
    await office.do("DispatchGoal", goal=goal)
    coordinator = await office.agent("coordinator", "plan", goal_id=goal)
    await office.do("AddComment", coordinator, goal=goal, kind="decision", body=TEXT)
    task = await office.do(
        "CreateTask", coordinator, goal=goal, title=LINE, intent=TEXT, end_state=TEXT, must_haves=["M1"]
    )
    await office.do("ActivateGoal", coordinator, goal=goal)
    await office.end(coordinator)
    others = "goal_id = :goal AND id <> :id AND status <> 'cancelled'"
    for each in await office.company.board.readers.entities(Task, others, goal=goal, id=task["id"]):
        await office.do("CancelTask", task=each.id, reason=LINE)
    await handed_in(office, task["id"], "inventory")
    output = await office.company.board.readers.value("SELECT max(id) FROM outputs")
    await approved(office, task["id"], output)
    coordinator = await office.agent("coordinator", "round_review", goal_id=goal, round_id=2)
    await office.do(
        "ReviewRound", coordinator, round=2, goal_clear=TEXT, covered=TEXT, next_step=TEXT, decision="report"
    )
    await office.do("RecordSession", System(), run=coordinator.run_id, session=LINE)
    await office.do("FinishRun", System(), run=coordinator.run_id, status="failed", exit_kind=LINE[:60], detail=TEXT)
    asked = await office.company.board.readers.value("SELECT min(id) FROM approvals WHERE kind = 'red_line'")
    await office.do("DecideApproval", approval=asked, decision="rejected", note=TEXT)
