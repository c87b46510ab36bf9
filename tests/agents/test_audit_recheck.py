"""A reviewer's recomputation: true claims pass, a wrong figure in the sample does not."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.agents.rehearsal.audit import recheck, recount
from core.agents.rehearsal.audit.closer import closer_look
from core.agents.rehearsal.audit.documentation import documentation
from core.agents.rehearsal.audit.duplicates import duplicates
from core.agents.rehearsal.audit.history import history
from core.agents.rehearsal.audit.inventory import inventory
from core.agents.rehearsal.audit.marks import marks
from core.agents.rehearsal.audit.recheck import recompute
from core.agents.rehearsal.audit.survey import AuditError
from tests.agents.test_audit_world import a_folder, a_repository

AUDITS: dict[str, Callable[[Path], Any]] = {
    "inventory": inventory,
    "marks": marks,
    "history": history,
    "documentation": documentation,
    "duplicates": duplicates,
    "closer_look": lambda folder: closer_look(folder, "a.py"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    a_repository(
        tmp_path,
        {
            "README.md": b"# Usage\n[x](gone.md) [y](a.py)",
            "docs/x.md": b"[x](../gone.png)",
            "a.py": b"# TODO\n\nx\nx\n",
            b"\xff\n.py": b"# TODO\n\nx\nx\n",
            "c.c": b"no end",
            "LICENSE": b"MIT\n",
            "blob": b"\0\1",
        },
    )
    return a_folder(tmp_path, {"new.sh": b"true # FIXME\n", "empty": b""})


@pytest.mark.parametrize("kind", AUDITS)
@pytest.mark.parametrize("limit", [recount.ALL_READ_BELOW, 0])
def test_a_true_claim_is_confirmed(folder: Path, kind: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recount, "ALL_READ_BELOW", limit)
    monkeypatch.setattr(recheck, "ALL_READ_BELOW", limit)
    found = recompute(kind, folder, AUDITS[kind](folder), 1)
    assert [check for check in found["checks"] if not check["equal"]] == []
    assert found["equal"]
    assert found["checks"]


WRONG: list[tuple[str, Callable[[Any], object]]] = [
    ("inventory", lambda claim: claim["languages"]["Python"].update(lines=7)),
    ("inventory", lambda claim: claim["languages"].pop("C")),
    ("inventory", lambda claim: claim["languages"].update(Go={"files": 1, "lines": 1, "bytes": 1})),
    ("inventory", lambda claim: claim["other"]["text"].update(files=0)),
    ("inventory", lambda claim: claim["total"].update(bytes=1)),
    ("marks", lambda claim: claim.update(lines=4)),
    ("marks", lambda claim: claim["places"][0].update(line=2)),
    ("marks", lambda claim: claim["top_files"][0].update(lines=2)),
    ("history", lambda claim: claim["largest"].pop(0)),
    ("history", lambda claim: claim["largest"][1].update(bytes=1)),
    ("history", lambda claim: claim["largest"][1].update(lines=99)),
    ("history", lambda claim: claim["untouched"][0].update(date="2000-01-01T00:00:00+00:00")),
    ("documentation", lambda claim: claim["dead_links"].pop()),
    ("documentation", lambda claim: claim["dead_links"].append({"file": "README.md", "target": "a.py"})),
    ("documentation", lambda claim: claim["dead_links"].append({"file": "a.py", "target": "made up"})),
    ("documentation", lambda claim: claim.update(readme=None)),
    ("duplicates", lambda claim: claim["groups"].pop()),
    ("duplicates", lambda claim: claim["groups"][0].append("c.c")),
    ("duplicates", lambda claim: claim["groups"][0].pop()),
    ("closer_look", lambda claim: claim.update(repeated_share=0.9)),
    ("closer_look", lambda claim: claim["longest_line"].update(bytes=3)),
    ("closer_look", lambda claim: claim["commits"].update(count=2)),
    ("closer_look", lambda claim: claim.update(path="c.c")),
]


@pytest.mark.parametrize(("kind", "spoil"), WRONG)
def test_a_wrong_figure_is_rejected(folder: Path, kind: str, spoil: Callable[[Any], object]) -> None:
    claim = copy.deepcopy(AUDITS[kind](folder))
    spoil(claim)
    assert not recompute(kind, folder, claim, 1, size=10)["equal"]


@pytest.mark.parametrize("kind", AUDITS)
@pytest.mark.parametrize("claim", [None, [], "x", {}, {"path": "a\0b", "groups": [[1]], "places": [{}]}])
def test_a_senseless_claim_is_rejected_without_failing(folder: Path, kind: str, claim: Any) -> None:
    assert not recompute(kind, folder, claim, 1)["equal"]


def test_a_sample_is_settled_by_its_seed(folder: Path) -> None:
    claim = inventory(folder)
    samples = [recompute("inventory", folder, claim, seed, size=1) for seed in (1, 1, *range(20))]
    assert samples[0] == samples[1]
    assert len({sample["checks"][1]["what"] for sample in samples}) > 1


def test_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="cannot be recomputed; what can: inventory"):
        recompute("mood", tmp_path, {}, 1)
