"""Attacks on the terminal in every text field of every entity, and a walk through every screen and tab.

What is drawn is looked at strip by strip, and what leaves for the terminal byte by byte.
"""

import dataclasses
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from core.domain.entities import Entity
from tests.flows.hostile_world import MARK, a_hostile_company
from tests.flows.test_hostile_board import OURS
from tests.flows.world import HOME, SMALL, Office, an_office, press, ready, settle, shown, wait
from tui.app import OpsroomApp
from tui.rendering import isolation
from tui.rendering.pieces import Piece

CHOSEN_BY_US = {
    "agents": {"slug", "capabilities"},
    "approvals": {"entity", "payload_hash", "requested_by", "decided_by"},
    "comments": {"author"},
    "company": {"locale"},
    "decisions": {"created_by", "waived_by"},
    "experiences": {"author"},
    "goals": {"created_by", "content_hash", "reviewed_by", "reviewed_hash", "repository"},
    "knowledge": {"sha256"},
    "outputs": {"sha256", "created_by", "must_haves"},
    "remarks": {"author"},
    "reviews": {"subject", "subject_hash", "reviewer", "rebuttal_answer", "rebutted_by"},
    "runs": {"owner", "prompt_hash", "idempotency_key"},
    "tasks": {"must_haves", "capabilities", "created_by", "idempotency_key", "repository"},
    "worktrees": {"repository", "path", "branch", "begins_from", "base"},
}
"""Fields whose words the program or the owner's own folders give: short names, ids, hashes, paths of repositories."""
JOINERS = {"\u200d", "\ufe0e", "\ufe0f", "\u20e3", isolation.MARK}
WALKS: dict[str, tuple[str, ...]] = {
    "inbox": ("i", *"jjjjjjjj"),
    "tabs of a question": ("i", "g", "enter", *"123456"),
    "board": ("tab", *"jjj"),
    "keys that ask": ("i", "g", "b", "§", "escape", "r", "escape", "c", "@", "escape"),
    "whole board": ("O", *"jj", "o", "p", "enter", "2", "escape", "escape"),
    "agents": ("A", *"jj", "o", "o", "o", "escape"),
    "prompts": ("P", "j", "enter", "escape", "2", "3", "j", "enter", "escape", "4", "j", "enter", "escape", "escape"),
    "mail": ("m", "j", "G", "escape"),
    "history": ("L", *"jj", "G", "enter", "escape", "d", "b", "enter", "1", "[", "[", "escape", "escape"),
    "palette": ("colon", "§", "escape"),
    "jump": ("J", "§", "escape"),
    "help and dry run": ("question_mark", "G", "escape", "T", "G", "escape"),
    "a new goal": ("n", "escape", "escape"),
}
THINGS = ("task:2", "task:3", "goal:2")
MOST_DRAWN = 6_000_000
"""Characters that long texts may cost on the whole walk; the files and transcripts hold ten times as many."""


def entities(kind: type[Entity] = Entity) -> Iterator[type[Entity]]:
    for each in kind.__subclasses__():
        if "table" in vars(each):
            yield each
        yield from entities(each)


def free_texts() -> dict[str, set[str]]:
    """The fields of each table that hold somebody's words."""
    found: dict[str, set[str]] = {}
    for kind in entities():
        fields = {field.name for field in dataclasses.fields(kind) if re.search(r"\b(str|dict)\b", str(field.type))}
        words = fields - CHOSEN_BY_US.get(kind.table, set())
        if words:
            found[kind.table] = words
    return found


async def untouched(office: Office) -> list[str]:
    """Fields of somebody's words that hold no attack."""
    lacking = []
    for table, fields in free_texts().items():
        for name in sorted(fields):
            sql = f"SELECT count(*) FROM {table} WHERE instr({name}, :mark) OR instr({name}, '\\u00a7')"
            if not await office.company.board.readers.value(sql, mark=MARK):
                lacking.append(f"{table}.{name}")
    return lacking


def look(app: OpsroomApp) -> None:
    """Every line of the screen: as wide as the screen, nothing in it that acts, nothing that hides."""
    assert app._exception is None, f"the app has crashed: {app._exception!r}"
    assert app.is_running
    for strip in app.screen._compositor.render_strips():
        text = "".join(segment.text for segment in strip)
        assert cell_len(text) == app.size.width, repr(text)
        for segment in strip:
            acts = segment.style.meta.get("@click") if segment.style is not None else None
            assert "exit" not in str(acts)
            assert segment.style is None or segment.style.link is None
        bad = {char for char in text if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}} - JOINERS
        assert not bad, f"{bad!r} in {text!r}"


async def go(pilot: Pilot[None], *keys: str) -> None:
    """Press keys, look after each, and make sure that there was something to look at."""
    assert isinstance(pilot.app, OpsroomApp)
    seen = 0
    for key in keys:
        await press(pilot, key)
        look(pilot.app)
        seen += MARK in shown(pilot.app)
    assert seen > len(keys) // 2, keys


async def home(pilot: Pilot[None], office: Office) -> OpsroomApp:
    """Back to the room from wherever the last walk ended."""
    app = pilot.app
    assert isinstance(app, OpsroomApp)
    for _ in range(6):
        if app.screen is app.room and not app.room.composer.asks:
            break
        await press(pilot, "escape")
    assert app.screen is app.room
    await wait(pilot, office, 1)
    return app


@pytest.mark.parametrize("size", [HOME, pytest.param(SMALL, marks=pytest.mark.soak)], ids=["home", "small"])
async def test_no_text_of_anybody_acts_anywhere(
    tmp_path: Path, wire: list[str], monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    drawn: list[int] = []
    draw = Piece.lines
    monkeypatch.setattr(Piece, "lines", lambda piece, width: drawn.append(piece.characters) or draw(piece, width))
    async with an_office(tmp_path / "c") as office:
        await a_hostile_company(office)
        assert await untouched(office) == []
        app = office.app()
        async with app.run_test(size=size, notifications=True) as pilot:
            await ready(pilot, office)
            look(app)
            for keys in WALKS.values():
                await go(pilot, *keys)
                await home(pilot, office)
            for ref in THINGS:
                app.room.board.list.focus()
                app.room.board.list.move_to(ref)
                await go(pilot, "enter", "1", "2", "F", "G", "pageup", "F", "G", "pageup", "g", "pagedown", *"3456")
                await home(pilot, office)
            app.room.attaching.open("run:4")
            await settle(pilot)
            await go(pilot, "g", "e", "G", "pageup", "slash", "§", "enter", "escape", "escape")
            await home(pilot, office)
            assert MARK in shown(app)
        sent = OURS.sub("", "".join(wire))
        assert not {char for char in sent if ord(char) < 32 and char not in "\r\n"}
        assert not re.search("[\x7f-\x9f\u061c\u200b\u200c\u200f\u202a-\u202e\u2060-\u206f\ufeff]", sent)
        assert sum(drawn) < MOST_DRAWN
