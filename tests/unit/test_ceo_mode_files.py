"""The texts of the CEO's modes: complete, found by the mode alone, and the guide that tells how to add one."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core.domain.ceo_mode import SLUGS, CeoMode, Trigger, ceo_mode_cue
from core.domain.errors import Invalid
from core.prompting.catalogue import LOCALES
from core.prompting.templates import Library, ceo_text, shipped_library

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "ceo-modes.md"
MODE_FILE = Path("core/domain/ceo_mode.py")


def a_copy(folder: Path) -> Path:
    shutil.copytree(ROOT / "prompts", folder / "prompts", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "prompts"


def test_every_mode_has_a_file_in_every_locale_and_nothing_else_lies_there() -> None:
    expected = {f"{slug}.{locale}.md" for slug in SLUGS.values() for locale in LOCALES}
    assert {path.name for path in (ROOT / "prompts" / "ceo-modes").iterdir()} == expected
    assert shipped_library().require() == ()


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("mode", CeoMode)
def test_the_text_is_the_modes_own_and_ends_with_the_footer(mode: CeoMode, locale: str) -> None:
    own = (ROOT / "prompts" / "ceo-modes" / f"{SLUGS[mode]}.{locale}.md").read_text(encoding="utf-8")
    footer = (ROOT / "prompts" / "ceo-shared" / f"proactive-footer.{locale}.md").read_text(encoding="utf-8")
    told = ceo_text(shipped_library(), mode, locale)
    assert [part.text for part in told] == [own.strip(), footer.strip()]
    assert not [part.warnings for part in told if part.warnings]


def test_a_missing_locale_falls_back_to_english_and_says_so(tmp_path: Path) -> None:
    prompts = a_copy(tmp_path)
    (prompts / "ceo-modes" / "awaiting-hire.zh.md").unlink()
    library = Library(prompts)
    told, _ = ceo_text(library, CeoMode.AWAITING_HIRE, "zh")
    assert told.text == (prompts / "ceo-modes" / "awaiting-hire.en.md").read_text(encoding="utf-8").strip()
    (warning,) = told.warnings
    assert "awaiting-hire.zh.md" in warning
    assert library.require() == (warning,)


@pytest.mark.parametrize("name", ["ceo-modes/operating.en.md", "ceo-shared/proactive-footer.en.md"])
def test_a_missing_english_file_stops_the_start_with_its_name(tmp_path: Path, name: str) -> None:
    prompts = a_copy(tmp_path)
    (prompts / name).unlink()
    (prompts / name.replace(".en.", ".zh.")).unlink()
    with pytest.raises(Invalid, match=re.escape(name)):
        Library(prompts).require()


def test_every_mode_and_trigger_has_a_cue_of_its_own() -> None:
    cues = [ceo_mode_cue(mode, trigger) for mode in CeoMode for trigger in Trigger]
    assert len(set(cues)) == len(CeoMode) * len(Trigger)


def test_no_other_file_of_the_code_spells_a_modes_name() -> None:
    literal = re.compile("|".join(rf"[\"']{re.escape(str(mode))}[\"']" for mode in CeoMode))
    found = [
        str(path.relative_to(ROOT))
        for part in ("core", "tui")
        for path in (ROOT / part).rglob("*.py")
        if literal.search(path.read_text(encoding="utf-8"))
    ]
    assert found == [str(MODE_FILE)]


# The guide, carried out on a copy --------------------------------------------------------------------------------

EDITS = re.compile(r"(after|before)\s+`([^`]+)`:\n\n```python\n(.*?)```", re.DOTALL)
TRY = """
import sys
sys.path.insert(0, sys.argv[1])
from core.domain.ceo_mode import CeoMode, CeoModeContext, SLUGS, Trigger, ceo_mode_cue, resolve_ceo_mode
from core.prompting.templates import Library
from pathlib import Path
Library(Path(sys.argv[1]) / "prompts").require()
sys.path.append(sys.argv[2])
from tests.unit.facts import VERA, a, agent
from core.domain.entities import Company
def mode(budget):
    company = a(Company, budget_micros=budget)
    return resolve_ceo_mode(CeoModeContext(VERA, company, (VERA, agent(1, manager_id=VERA.id)), ())).mode
print(mode(-1), mode(0), SLUGS[mode(-1)], ceo_mode_cue(mode(-1), Trigger.IDLE))
"""


def carried_out(folder: Path, *, but: int | None = None, files: bool = True) -> "subprocess.CompletedProcess[str]":
    """The guide's steps on a copy of the code, without the edit number `but` or without the files."""
    shutil.copytree(ROOT / "core", folder / "core", ignore=shutil.ignore_patterns("__pycache__"))
    prompts = a_copy(folder)
    text = (folder / MODE_FILE).read_text(encoding="utf-8")
    for number, (where, anchor, added) in enumerate(EDITS.findall(GUIDE.read_text(encoding="utf-8"))):
        assert text.count(anchor + "\n") == 1, anchor
        if number != but:
            text = text.replace(anchor + "\n", f"{anchor}\n{added}" if where == "after" else f"{added}{anchor}\n")
    (folder / MODE_FILE).write_text(text, encoding="utf-8")
    if files:
        for locale in LOCALES:
            (prompts / "ceo-modes" / f"awaiting-funding.{locale}.md").write_text("## Funds\n", encoding="utf-8")
    argv = [sys.executable, "-c", TRY, str(folder), str(ROOT)]
    return subprocess.run(argv, capture_output=True, text=True, cwd=folder, timeout=60, check=False)


def test_the_guide_adds_a_mode(tmp_path: Path) -> None:
    assert len(EDITS.findall(GUIDE.read_text(encoding="utf-8"))) == 4
    done = carried_out(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("awaiting_funding operating awaiting-funding No goal is alive.")


@pytest.mark.parametrize("left_out", range(4))
def test_a_step_that_is_left_out_is_noticed(tmp_path: Path, left_out: int) -> None:
    done = carried_out(tmp_path, but=left_out)
    assert done.returncode != 0 or not done.stdout.startswith("awaiting_funding")


def test_a_file_that_is_left_out_is_noticed(tmp_path: Path) -> None:
    done = carried_out(tmp_path, files=False)
    assert done.returncode != 0
    assert "awaiting-funding.en.md" in done.stderr
