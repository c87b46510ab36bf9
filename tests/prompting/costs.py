"""What prompts cost, counted from the kept ones. `python -m tests.prompting.costs` prints the tables of docs."""

from pathlib import Path

from core.domain.limits import TICK_MS
from core.prompting.catalogue import LOCALES
from core.prompting.counting import tokens

GOLDEN = Path(__file__).parent / "golden"
RUNS = {
    "ceo.propose": "CEO, proposes a goal",
    "ceo.heartbeat": "CEO, heartbeat with an agenda",
    "coordinator.explore": "coordinator, talks a goal over",
    "planner.split": "planner, first tasks of a draft",
    "executor.discuss": "executor, a turn of the discussion",
    "coordinator.plan": "coordinator, settles the plan",
    "executor.one_offer": "executor, broadcast of one task",
    "executor.broadcast": "executor, broadcast of five tasks",
    "executor.execute": "executor, works on a task",
    "executor.revise": "executor, after a refusal",
    "reviewer.review": "reviewer, judges",
    "challenger.review": "challenger, judges high risk",
    "reviewer.reply": "reviewer, replies to a rebuttal",
    "coordinator.rule": "coordinator, rules",
    "coordinator.stall": "coordinator, a round stands still",
    "coordinator.round_review": "coordinator, judges a round",
    "coordinator.report": "coordinator, reports",
    "executor.mention": "executor, mentioned",
    "executor.inform": "executor, mail for information",
    "coordinator.request": "coordinator, mail that asks",
}
# The sources' example (S3-27), and the price that they state for it.
AGENTS, TASKS = 6, 5
AN_HOUR = 3_600_000 // TICK_MS
DOLLARS_A_TOKEN = 0.15 / 72_000


def golden(name: str, locale: str) -> Path:
    """The file of a kept prompt."""
    return GOLDEN / f"{name}.{locale}.txt"


def cost(name: str, locale: str) -> int:
    """The tokens of a kept prompt."""
    return tokens(golden(name, locale).read_text(encoding="utf-8").rstrip("\n"))


def by_run() -> str:
    """Tokens of a prompt of each kind of run, in each language."""
    rows = [
        f"| {what} | {' | '.join(f'{cost(name, locale):,}' for locale in LOCALES)} |" for name, what in RUNS.items()
    ]
    return "\n".join([f"| run | {' | '.join(LOCALES)} |", f"|---|{'---:|' * len(LOCALES)}", *rows])


def by_hour() -> str:
    """Tokens of the broadcasts of one hour, by how often agents are called."""
    ways = {
        f"every {TICK_MS // 1000} s, all tasks to all agents": ("executor.broadcast", AGENTS * AN_HOUR),
        "on change, the tasks come one by one": ("executor.one_offer", AGENTS * TASKS),
        "on change, all tasks come at once": ("executor.broadcast", AGENTS),
    }
    rows = []
    for way, (name, prompts) in ways.items():
        counts = [prompts * cost(name, locale) for locale in LOCALES]
        told = " | ".join(f"{count:,} | ${count * DOLLARS_A_TOKEN:,.2f}" for count in counts)
        rows.append(f"| {way} | {prompts:,} | {told} |")
    heads = " | ".join(f"{locale} | at the sources' price" for locale in LOCALES)
    return "\n".join([f"| broadcast | prompts | {heads} |", f"|---|---:|{'---:|' * 2 * len(LOCALES)}", *rows])


def table() -> str:
    """Both tables, as they stand in docs/prompts.md."""
    return (
        f"{by_run()}\n\nAn hour with {AGENTS} agents and {TASKS} tasks that nobody claims meanwhile:\n\n{by_hour()}\n"
    )


if __name__ == "__main__":
    print(table())
