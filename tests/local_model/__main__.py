"""Asks a real small model what it does with tasks on offer, in a real company each, and says what it did and how long.

`python -m tests.local_model PYTHON`: PYTHON is that of the environment that `serve.py` runs in.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from core.agents.chat.runner import ChatRunner
from core.company import OpenCompany, create_company
from core.config import Config
from core.domain.entities import Comment, Run
from core.domain.states import TaskStatus
from core.simulation.clock import Clock
from tests import stepped
from tests.stepped import Silent, Stepped

# A busy machine reads the thousand tokens of a prompt slowly.
stepped.PATIENCE_S = 900.0


@dataclass(frozen=True)
class Trial:
    """A task on offer to a writer of signs, and what a sensible one would do."""

    wanted: str
    title: str
    end_state: str


TRIALS = (
    Trial("claim", "Write the sign", "A text with the opening hours."),
    Trial("claim", "Write a short note for visitors", "Three sentences about the garden."),
    Trial("claim", "Write the label of the old clock", "A text of two lines."),
    Trial("observe", "Paint the sign that you wrote last week", "The painted sign hangs at the door."),
    Trial("observe", "Print the label of the old clock", "A printed card; the text must fit on it."),
    Trial("observe", "Choose the colour of the letters", "A colour that can be read from afar."),
    Trial("silence", "Mend the pump in the cellar", "The pump runs."),
    Trial("silence", "Order coal for the winter", "Two tons are there."),
    Trial("silence", "Tune the piano", "It is in tune."),
)


async def tried(folder: Path, url: str, trial: Trial) -> tuple[str, Run, float]:
    """What the agent did, its run, and seconds."""
    clock = Clock()
    await create_company(folder, Config(name="Museum", mission="Be visited"), clock=clock)
    company = await OpenCompany.open(folder, {"chat": ChatRunner(), "silent": Silent()}, role="owner", clock=clock)
    try:
        office = Stepped(company, clock)
        settings = {"kind": "chat", "url": f"{url}/v1", "model": "smollm2", "answers": "schema", "answer_tokens": 200,
                    "temperature": 0.0, "turns": 4, "brings_self": True}  # fmt: skip
        for slug, role, manager in (
            ("vera", "ceo", None),
            ("cora", "coordinator", "vera"),
            ("ada", "executor", "cora"),
        ):
            await office.do("HireAgent", slug=slug, name=slug.title(), role=role, manager=manager,
                            capabilities=["writing"] if slug == "ada" else [],
                            runner=settings if slug == "ada" else {"kind": "silent"})  # fmt: skip
        await office.do("StartCompany")
        task = {"title": trial.title, "end_state": trial.end_state, "must_haves": ["M1"]}
        goal = await office.do("CreateGoal", title="Open the museum", must_haves=["it is ready"], tasks=[task])
        await office.do("DispatchGoal", goal=goal["id"], discussion=False)
        began = time.monotonic()
        run = await office.ended("broadcast")
        took = time.monotonic() - began
        claimed = (await office.task()).status != TaskStatus.PENDING
        observed = any(each.kind == "observation" for each in await office.all(Comment))
        did = "claim" if claimed else "observe" if observed else "silence" if run.exit_kind == "no_reply" else "nothing"
        return did, run, took
    finally:
        await company.close()


async def main(url: str) -> None:
    right = valid = 0
    for trial in TRIALS:
        with tempfile.TemporaryDirectory() as place:
            did, run, took = await tried(Path(place) / "c", url, trial)
        right += did == trial.wanted
        valid += did != "nothing"
        print(f"{trial.wanted:<8} {did:<8} {run.tokens_in:>6} in {run.tokens_out:>4} out {took:5.1f} s  {trial.title}"
              f"{f'  ({run.exit_kind}: {run.detail[:90]})' if did == 'nothing' else ''}", flush=True)  # fmt: skip
    print(f"{valid} of {len(TRIALS)} runs ended in an act that the board took; {right} in the one that was wanted.")


if __name__ == "__main__":
    served = subprocess.Popen(
        [sys.argv[1], str(Path(__file__).with_name("serve.py"))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert served.stdin is not None
    assert served.stdout is not None
    try:
        address = served.stdout.readline().strip()
        if not address:
            sys.exit("The model server did not start; run tests/local_model/serve.py by itself to see why.")
        asyncio.run(main(address if "://" in address else f"http://{address}"))
    finally:
        served.stdin.close()
        # It may be in the middle of an answer that nobody waits for.
        served.terminate()
        served.wait()
