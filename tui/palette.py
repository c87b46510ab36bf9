"""What the palette offers: every action with its key, every command that a person may give, modes, panes, themes.

Entries are data; the screen in `screens/palette.py` shows them, and what does not apply now says why.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.binding import Binding
from textual.fuzzy import Matcher
from textual.screen import Screen

from core.commands.registry import REGISTRY, Registered
from core.domain.entities import AgentRecord, Goal, Run, Task
from core.domain.lifecycles import Who
from core.domain.states import RUN_LIVE
from tui.actions import ACTIONS, DECIDE, WRITE, Situation, label_of
from tui.keymap import Keymap, people_say
from tui.modes import HOME, MODES, mode_of
from tui.panes.frame import PANES
from tui.targets import by_name, is_id, tag_of, thing, typed, words_of
from tui.text import act_in_words, in_words
from tui.told_commands import about_in_words, pressed_for

if TYPE_CHECKING:
    from tui.app import OpsroomApp
    from tui.projection import Projection

MOST_THINGS = 50
_ON_BOARD = frozenset({DECIDE, WRITE})
_OF_ITS_OWN = frozenset({"palette"})
_WITHOUT_TAG = frozenset({"undo", "new_goal", "snoozed", "number"})


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the palette. `why_not` says why it does nothing now; `more` is searched too and not shown."""

    name: str
    about: str
    act: Callable[[], None]
    key: str = ""
    why_not: str = ""
    more: str = ""


def found(entries: Sequence[Entry], query: str) -> list[Entry]:
    """The entries that fit the letters, the best first; all of them, as they stand, when nothing is typed."""
    query = query.strip()
    if not query:
        return list(entries)
    matcher = Matcher(query)
    scored = [(max(matcher.match(each.name), 0.7 * matcher.match(each.more)), each) for each in entries]
    fits = [(score, place, each) for place, (score, each) in enumerate(scored) if score > 0]
    return [each for _, _, each in sorted(fits, key=lambda one: (bool(one[2].why_not), -one[0], one[1]))]


# ------------------------------------------------------------- entries


def entries(app: "OpsroomApp", form: Callable[[Registered], None]) -> list[Entry]:
    """Everything, in the order in which it is shown; `form` opens a command's form."""
    keymap, screen = app.personal.keymap, app.screen
    return [
        *_of_screen(app, screen, keymap), *_actions(app, keymap), *_modes(app, keymap), *_panes(app), *_themes(app),
        *_commands(app, form, keymap),
    ]  # fmt: skip


def _actions(app: "OpsroomApp", keymap: Keymap) -> Iterator[Entry]:
    """The room's actions. Decisions are taken where what they are about is on the screen."""
    situation = app.room.situation
    elsewhere = (
        "" if mode_of(app.screen) in (HOME, "board") else f"only in the control room: {keymap.shown('home')} goes there"
    )
    modes = {mode.name for mode in MODES}
    for action in ACTIONS:
        if action.name in _OF_ITS_OWN | modes:
            continue
        with_tag = action.group in _ON_BOARD and action.name not in _WITHOUT_TAG
        tag = f" {situation.tag}" if with_tag and situation.ref else ""
        why_not = elsewhere if action.name not in _EVERYWHERE else ""
        yield Entry(
            f"{label_of(action, situation)}{tag}", action.about, _acting(app, action.name, situation, with_tag),
            keymap.shown(action.name), why_not or action.why_not(situation), action.name,
        )  # fmt: skip


_EVERYWHERE = frozenset({"help", "jump", "jump_back", "copy", "page", "edit_copy", "leave", "inbox", "start", "stop",
                         "tick", "dry_run", "quiet"})  # fmt: skip


def _acting(app: "OpsroomApp", name: str, then: Situation, is_about: bool) -> Callable[[], None]:
    def act() -> None:
        now = app.room.situation
        if is_about and (now.ref, now.item and now.item.id) != (then.ref, then.item and then.item.id):
            app.room.decisions.deafen()
            app.room.say("What is selected is another thing now. Look at it, then press again.", "warn")
            return
        screen = app.screen
        if name == "help" and screen is not app.room and hasattr(screen, "action_help"):
            screen.action_help()
            return
        if name == "inbox":
            app.modes.go(HOME)
        if name == "leave":
            app.ask_to_leave()
            return
        app.room.action_act(name)

    return act


def _of_screen(app: "OpsroomApp", screen: Screen[object], keymap: Keymap) -> Iterator[Entry]:
    """The keys of the screen that is looked at, if it is not the control room."""
    if screen is app.room or not mode_of(screen):
        return
    for binding in type(screen).BINDINGS:
        if isinstance(binding, Binding) and binding.description and binding.id:
            place, usual = mode_of(screen), keymap.changed.get(binding.id, tuple(binding.key.split(",")))
            yield Entry(
                binding.description[:1].lower() + binding.description[1:], f"on this screen ({place})",
                _running(screen, binding.action), people_say(usual[0]),
            )  # fmt: skip


def _running(screen: Screen[object], action: str) -> Callable[[], None]:
    def act() -> None:
        screen.call_later(screen.run_action, action)

    return act


def _modes(app: "OpsroomApp", keymap: Keymap) -> Iterator[Entry]:
    abouts = {action.name: action.about for action in ACTIONS}
    for mode in MODES:
        here = "you are there" if mode_of(app.screen) == mode.name else ""

        def go(name: str = mode.name) -> None:
            app.modes.go(name)

        yield Entry(f"mode: {mode.label}", abouts.get(mode.name, ""), go, keymap.shown(mode.name), here, mode.name)


def _panes(app: "OpsroomApp") -> Iterator[Entry]:
    room = app.room
    elsewhere = "" if app.screen is room else "panes belong to the control room"
    for pane in PANES:
        verb = "show" if pane in room.arranging.body.hidden else "hide"

        def toggle(name: str = pane) -> None:
            room.arranging.toggle(name)

        yield Entry(f"{verb}: {pane}", "Panes that are hidden are remembered", toggle, why_not=elsewhere)


def _themes(app: "OpsroomApp") -> Iterator[Entry]:
    for theme in sorted(app.available_themes):

        def choose(name: str = theme) -> None:
            app.choose_theme(name)

        yield Entry(f"theme: {theme}", "Change the colours", choose,
                    why_not="it is shown already" if theme == app.theme else "")  # fmt: skip


def _commands(app: "OpsroomApp", form: Callable[[Registered], None], keymap: Keymap) -> Iterator[Entry]:
    """Every command of the registry that the operator may send, with the key where it has one in the room."""
    for name, command in sorted(REGISTRY.items()):
        if Who.OPERATOR in command.model.who:

            def open_form(chosen: Registered = command) -> None:
                form(chosen)

            why_not = "this company is founded already" if name == "CreateCompany" else ""
            key = keymap.instead(pressed_for(name))
            yield Entry(f"{act_in_words(name)}…", about_in_words(command.about), open_form, key, why_not, name)


# ------------------------------------------------------------- things


class Things:
    """What can be gone to, found by an id, a name or words of a title. Made once for each time the palette opens."""

    def __init__(self, view: "Projection", go: Callable[[str], None]) -> None:
        self._view = view
        self._go = go
        tables = view.tables
        live = [run for run in tables.all(Run) if run.status in RUN_LIVE]
        self._all: list[tuple[str, str]] = [
            *((f"agent:{each.id}", f"{each.slug} {each.name}".casefold()) for each in tables.all(AgentRecord)),
            *((f"run:{each.id}", f"r{each.id} {view.slug(each.agent_id)} {each.kind}".casefold()) for each in live),
            *((f"goal:{each.id}", f"g{each.id} {each.title}".casefold()) for each in tables.all(Goal)),
            *((f"task:{each.id}", f"t{each.id} {each.title}".casefold()) for each in tables.all(Task)),
        ]

    def entries(self, query: str) -> tuple[list[Entry], int]:
        """What fits, the thing that is named exactly first, and how many more there are."""
        words = query.casefold().split()
        exact = typed(self._view, query) or (by_name(self._view, words[0].removeprefix("@")) if words else "")
        fits = [ref for ref, text in self._all if all(word in text for word in words) and ref != exact]
        refs = ([exact] if exact else []) + fits
        return [self._entry(ref) for ref in refs[:MOST_THINGS]], max(0, len(refs) - MOST_THINGS)

    def is_exact(self, query: str) -> bool:
        """Whether the first of the entries is the thing that was named."""
        return bool(typed(self._view, query))

    def missing(self, query: str) -> str:
        """What is said of an id that the board does not have; empty for any other text."""
        return f"There is no {query.strip().upper()} on this board." if is_id(query) else ""

    def _entry(self, ref: str) -> Entry:
        view, kind = self._view, ref.partition(":")[0]
        status = getattr(thing(view, ref), "status", "")
        kind = "question" if kind == "approval" else kind
        return Entry(f"{tag_of(view, ref)} {words_of(view, ref)}", f"{kind} {in_words(status)}".strip(),
                     lambda: self._go(ref))  # fmt: skip
