"""First paint of the control room beside a bare Textual app, each in a fresh process."""

import json
import statistics
import subprocess
import sys
from pathlib import Path

STARTS = 7
_HEAD = """
import asyncio, json, sys, time
born = time.perf_counter()
from textual.app import App
marks = {}
display = App._display
def first(self, screen, renderable):
    display(self, screen, renderable)
    if renderable is not None:
        marks.setdefault("paint", time.perf_counter() - born)
App._display = first
"""
_BARE = """
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("hello")
async def main():
    async with Bare().run_test(size=(120, 40)) as pilot:
        await pilot.pause()
asyncio.run(main())
print(json.dumps(marks))
"""
_ROOM = """
from pathlib import Path
from core.company import OpenCompany
from tui.app import OpsroomApp
async def main():
    company = await OpenCompany.open(Path(sys.argv[1]), {}, role="owner")
    async with OpsroomApp(company, clock=company.clock, start=False).run_test(size=(120, 40)) as pilot:
        await pilot.pause()
asyncio.run(main())
print(json.dumps(marks))
"""


def _paint(program: str, *arguments: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", _HEAD + program, *arguments], stdout=subprocess.PIPE, text=True, check=True, timeout=60
    )
    return float(json.loads(done.stdout.splitlines()[-1])["paint"])


def measure(folder: Path) -> None:
    """Print the median seconds from the first import to the first paint, and the ratio."""
    subprocess.run([sys.executable, "-m", "tui.cli", "init", str(folder / "company")], check=True, capture_output=True)
    bare, room = [], []
    for _ in range(STARTS):
        bare.append(_paint(_BARE))
        room.append(_paint(_ROOM, str(folder / "company")))
    first, second = statistics.median(bare), statistics.median(room)
    print(f"bare Textual app   {first * 1000:7.0f} ms to first paint (median of {STARTS})")
    print(f"control room       {second * 1000:7.0f} ms                        {second / first:5.2f} × bare")
