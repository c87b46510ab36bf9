"""What the keys of the room do that belongs to none of its helpers: start, stop, tick, help, the way back."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.ticker import Ticker
    from tui.screens.control import ControlScreen
    from tui.screens.reading import Reading


class RoomActs:
    """A method for each such action of the table, by its name."""

    def __init__(self, room: "ControlScreen") -> None:
        self._room = room

    def board(self) -> None:
        """The whole board."""
        self._room.boarding.open()

    def home(self) -> None:
        """It is here already."""

    def undo(self) -> None:
        """Take back what is held."""
        self._room.decisions.undo()

    def start(self) -> None:
        """Start the company."""
        self._room.decisions.start()

    def stop(self) -> None:
        """Stop it, after a question."""
        self._room.decisions.stop()

    def tick(self) -> None:
        """Tick now."""
        if self._room.company.ticker is None:
            self._room.say("This room only follows: the room that owns the board ticks.", "warn")
            return
        self._room.company.ticker.poke()
        self._room.say("ticking now", "good")

    def dry_run(self) -> None:
        """The screen at once, so that the next key is its; the plan when it is worked out."""
        from tui.screens.reading import dry_run_screen

        if self._room.company.ticker is None:
            self._room.say("This room only follows: the room that owns the board plans the ticks.", "warn")
            return
        screen = dry_run_screen()
        self._room.app.push_screen(screen)
        planned = self._plan_dry(self._room.company.ticker, screen)
        self._room.run_worker(planned, "dry run", "dry run", exclusive=True, exit_on_error=False)

    async def _plan_dry(self, ticker: "Ticker", screen: "Reading") -> None:
        from tui.screens.reading import dry_run_rows

        _, plan = await ticker.look()
        screen.show_rows(dry_run_rows(plan, self._room.view), "Nothing: the board is quiet.")

    def inbox(self) -> None:
        """To what waits."""
        self._room.set_focus(self._room.inbox.list)

    def filter(self) -> None:
        """Narrow the list that one is in."""
        if self._room.focused is self._room.inbox.list:
            self._room.inbox.filter.ask()
        else:
            self._room.board.ask_filter()

    def back(self) -> None:
        """Out of what one is in, one step."""
        room = self._room
        if room.composer.asks:
            room.composer.action_drop()
        elif room.inbox.filter.is_narrow and room.focused is room.inbox.list:
            room.inbox.filter.clear()
        elif room.board.field.has_focus or (room.board.filtered and not room.has_class("-in-detail")):
            room.board.clear_filter()
        elif room.situation.marked and not room.situation.in_detail:
            room.waiting.batching.clear()
        else:
            (room.inbox if room.at_inbox else room.board).list.focus()

    def prompts(self) -> None:
        """What runs were told."""
        self._room.prompting.open(self._room.situation.ref)

    def raw(self) -> None:
        """Outputs as they were written, or drawn."""
        self._room.say(self._room.detail.switch_raw(), "dim")

    def watch(self) -> None:
        """The newest run of what is selected."""
        self._room.attaching.open(self._room.situation.ref)

    def history(self) -> None:
        """The log."""
        self._room.looking_back.open()

    def its_history(self) -> None:
        """The log of what is selected."""
        self._room.looking_back.open(self._room.situation.ref)

    def quiet(self) -> None:
        """Do not disturb, or do again."""
        self._room.disturbing.quiet()

    def help(self) -> None:
        """Every key."""
        from tui.screens.reading import help_screen

        self._room.app.push_screen(
            help_screen(
                self._room.situation,
                ceo[1] if (ceo := self._room.view.ceo()) else None,
                self._room.app.personal.keymap,
                "board" if self._room.boarding.screen is not None else "",
            )
        )

    def leave(self) -> None:
        """Leave the room."""
        self._room.app.ask_to_leave()
