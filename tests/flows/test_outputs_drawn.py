"""Outputs drawn by what they are, or as they were written; long ones where somebody looks."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.flows.conftest import Picture
from tests.flows.world import HOME, SMALL, Office, a_goal_at_work, an_office, at_work, press, ready, shown
from tui.app import OpsroomApp
from tui.rendering.pieces import Piece
from tui.widgets.prose import Block, Prose

REPORT = """\
# Links of the folder

Two of **40** files have *dead* links; `docs/tour.md` is [the worst](https://example.org/tour#top "a title").
A [link](javascript:alert(1)), <b>HTML</b> and ![a picture](chart.png) do nothing here.

1. Mend `docs/tour.md`
   - the link to the old guide
   - the one to *the moved page*, which needs a word in a sentence that does not fit on one line
2. Look at the rest

> Nobody has read the old guide since it moved.

| File | Links | Dead |
|:-----|------:|:----:|
| docs/tour.md | 31 | 4 |
| 宽字符 👩‍🚒.md | 7 | 1 |
| مرحبا.md | 2 | 0 |

```python
def dead(link: str) -> bool:  # by hand
    return link.startswith("old/") or "moved" in link
```
"""
DATA = """\
file,links,note
tour.md,31,"the worst, by far"
guide.md,7,
index.md,120,has a long note that is folded where it has no room
"""
DIFF = """\
diff --git a/tour.md b/tour.md
--- a/tour.md
+++ b/tour.md
@@ -1,2 +1,2 @@
 # Tour
-[old](old/a.md)
+[new](a.md)
"""
CODE = """\
#!/usr/bin/env python3
'Counts links.'
import re

LINK = re.compile(r"\\[.*?\\]")


class Count:
    total = 0  # of all
"""
JSON = '{"files": 40, "dead": [{"file": "tour.md", "link": "old/a.md", "why": null}], "share": 0.10, "share": 0.1}'


async def delivered(office: Office) -> None:
    """A task with an output of each kind; the report is the newest."""
    await a_goal_at_work(office)
    agent = await at_work(office, 3, "links")
    for type, title, content in (
        ("data", "counts.json", JSON), ("code", "Counter", CODE), ("other", "The change", DIFF),
        ("data", "counts.csv", DATA), ("document", "Report", REPORT),
    ):  # fmt: skip
        await office.do("AddOutput", agent, task=3, type=type, title=title, summary="As asked.", content=content)
    await office.end(agent)


async def to_outputs(pilot: Pilot[None], office: Office) -> OpsroomApp:
    app = await ready(pilot, office)
    app.room.board.list.focus()
    app.room.board.list.move_to("task:3")
    await press(pilot, "enter", "2")
    return app


CONTRAST = pytest.param(HOME, "high-contrast", marks=pytest.mark.soak)


@pytest.mark.parametrize(("size", "theme"), [(HOME, ""), (SMALL, ""), CONTRAST], ids=["home", "small", "high-contrast"])
async def test_outputs_are_drawn_by_what_they_are(
    tmp_path: Path, picture: Picture, size: tuple[int, int], theme: str
) -> None:
    async with an_office(tmp_path / "c") as office:
        await delivered(office)
        app = office.app(**({"theme": theme} if theme else {}))
        async with app.run_test(size=size) as pilot:
            await to_outputs(pilot, office)
            await press(pilot, "z")
            await picture(pilot, "drawn")
            await press(pilot, "G")
            await picture(pilot, "drawn-end")
            await press(pilot, "F", "g")
            await picture(pilot, "as-written")
            assert app.personal.memory.now.raw
            await press(pilot, "1", "F")
            assert app.room.detail.tabs.open == 2, "the key leads to what it is about"
            assert "as they were written" in shown(app)
            await press(pilot, "F")
            assert not app.personal.memory.now.raw


async def test_of_a_long_file_only_what_is_looked_at_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    draw = Piece.lines
    monkeypatch.setattr(Piece, "lines", lambda piece, width: drawn.append(piece.characters) or draw(piece, width))
    async with an_office(tmp_path / "c") as office:
        await a_goal_at_work(office)
        folder = office.company.folder / "outputs"
        folder.mkdir(exist_ok=True)
        rows = [f"value_{number} = {number}  # {'x' * 70}" for number in range(60_000)]
        (folder / "long.py").write_text("\n".join(rows))
        agent = await at_work(office, 3, "links")
        await office.do("AddOutput", agent, task=3, type="code", title="Long", path="long.py")
        app = office.app()
        async with app.run_test(size=HOME) as pilot:
            told: list[str] = []
            put = app.room.detail.prose.set_blocks

            def heard(blocks: Sequence[Block], *, thread: str = "") -> None:
                put(blocks, thread=thread)
                told.append(all_of(app.room.detail.prose))

            monkeypatch.setattr(app.room.detail.prose, "set_blocks", heard)
            await to_outputs(pilot, office)
            prose = app.room.detail.prose
            assert "bytes more: reading…" in told[-2], "the beginning stands there before the rest is read"
            assert "value_0 = 0" in told[-2]
            assert prose.virtual_size.height > 50_000

            await press(pilot, "G")
            assert "value_59999 = 59999" in shown(app)
            assert prose.at_end
            await press(pilot, "k", "pageup")
            assert "value_59990 = 59990" in shown(app)
            prose.scroll_to(y=prose.virtual_size.height // 2, animate=False)
            await press(pilot)
            seen = [line for line in shown(app).splitlines() if "value_3" in line or "value_2" in line]
            assert len(seen) > 5, "the middle is drawn where it is looked at"
            await press(pilot, "g")
            assert "value_0 = 0" in shown(app)
            assert sum(drawn) < 1_000_000, "of five million characters"

            (folder / "long.py").write_text("\n".join(rows[:10]))
            app.room.detail._read_again()
            await press(pilot)
            assert "changed after it was delivered" in shown(app)


def all_of(prose: Prose) -> str:
    """Every line that is drawn."""
    lines = (prose.drawn_line(number) for number in range(min(prose.virtual_size.height, 5_000)))
    return "\n".join("".join(text for text, _ in line) for line in lines)
