"""What came of a heartbeat that the operator called: what was found, and what the CEO did with it."""

from typing import TYPE_CHECKING

from core.domain.entities import Run
from core.domain.states import RUN_LIVE, RunKind, RunStatus
from tui.text import one_line

if TYPE_CHECKING:
    from tui.projection import Projection
    from tui.screens.leading import Host

_ASKED = (RunKind.HEARTBEAT, RunKind.PROPOSE)


class Called:
    """Remembers the call until its outcome is told."""

    def __init__(self) -> None:
        self._host: Host | None = None
        self._after_beat = self._after_run = 0

    def begin(self, view: "Projection", host: "Host") -> None:
        """The operator calls now: what comes later than this is the answer."""
        self._host = host
        self._after_beat = view.heartbeat.id if view.heartbeat is not None else 0
        self._after_run = max((run.id for run in view.tables.all(Run)), default=0)

    def look(self, view: "Projection") -> None:
        """Something happened: tell the outcome if it is there."""
        beat = view.heartbeat
        if self._host is None or beat is None or beat.id <= self._after_beat:
            return
        runs = [run for run in view.tables.all(Run) if run.id > self._after_run and run.kind in _ASKED]
        if not runs and beat.kind in ("HeartbeatAgenda", "HeartbeatIdle"):
            return  # the CEO's run is queued in the same tick
        if not runs:
            self._tell(f"♥ nothing to ask the CEO: {one_line(str(beat.changed.get('result', 'normal')))}", good=True)
        elif runs[0].status not in RUN_LIVE:
            run = runs[0]
            ended = one_line(run.detail) or "it says nothing more"
            if run.status == RunStatus.SUCCEEDED:
                self._tell(f"♥ the CEO was asked: {ended}", good=True)
            else:
                self._tell(f"♥ the CEO was asked, and its run {run.name_tag} {run.status}: {ended}", good=False)

    def _tell(self, words: str, *, good: bool) -> None:
        if self._host is not None:
            self._host.say(words, "good" if good else "bad")
        self._host = None
