"""The committed baselines: what is played for each; `python -m tests.evals.baselines` records them anew (S0-18)."""

import asyncio
import json
import logging
import tempfile
from pathlib import Path

from core.domain.ceo_mode import CeoMode, Trigger, ceo_mode_cue
from core.domain.goals import canonical_hash
from core.evals.baseline import VERSION
from core.evals.contestants import Rehearsal, read_replies
from core.evals.evaluation import evaluate
from core.evals.playing import Contestant
from core.evals.report import Report
from tests.evals.world import GOOD, STATES, all_shipped

PROMPTS = Path(__file__).resolve().parents[2] / "prompts"
PLACE = Path(__file__).parent / "baselines"
NAMES = ("rehearsal", "replies")


def contestant(name: str, place: Path) -> Contestant:
    """Who plays for a baseline; `place` is an empty folder."""
    if name == "replies":
        return read_replies(GOOD)
    audited = place / "archive"
    audited.mkdir()
    (audited / "notes.txt").write_text("Counted by hand.\n", encoding="utf-8")
    return Rehearsal(audited)


async def played(name: str, place: Path) -> Report:
    """All shipped scenarios, once: what is played here is the same each time."""
    boards = place / "boards"
    boards.mkdir()
    return await evaluate(list(all_shipped().values()), contestant(name, place), boards, boards=STATES)


def texts() -> dict[str, str]:
    """The hash of each text that tells a CEO its mode, and of each cue."""
    files = sorted((*PROMPTS.glob("ceo-modes/*.md"), *PROMPTS.glob("ceo-shared/*.md")))
    told = {f"{path.parent.name}/{path.name}": path.read_text(encoding="utf-8") for path in files}
    told |= {f"cue {mode} {trigger}": ceo_mode_cue(mode, trigger) for mode in CeoMode for trigger in Trigger}
    return {name: canonical_hash(text)[:16] for name, text in told.items()}


def record() -> None:
    """Write them anew, without the place where they were played."""
    logging.getLogger("core").setLevel(logging.CRITICAL)
    for name in NAMES:
        with tempfile.TemporaryDirectory() as place:
            report = asyncio.run(played(name, Path(place)))
            text = json.dumps({"version": VERSION, **report.as_json()}, ensure_ascii=False, indent=1)
            PLACE.mkdir(exist_ok=True)
            (PLACE / f"{name}.json").write_text(text.replace(place, "") + "\n", encoding="utf-8")
    (PLACE / "texts.json").write_text(json.dumps(texts(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
