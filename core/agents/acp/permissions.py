"""What a program asks before it acts becomes a question to the operator; never a yes without theirs (S4-08)."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.agents.acp.tools import Tool
from core.agents.acp.wishes import is_the_boards, wish_of
from core.agents.models.keys import Secret, scrub
from core.agents.programs.scripts import mapping
from core.agents.runner import Change, Desk, Permission, Permit, Told, Wish
from core.domain.errors import Fenced, OpsroomError
from core.domain.limits import PERMISSIONS_WAITING

CANCELLED: Mapping[str, Any] = {"outcome": {"outcome": "cancelled"}}
_NOTES_MAX = 50  # of refusals that the program is told of at once


class Permissions:
    """Of one run. `known` gives the call that is asked about, with what is news of it told; `refused` hears of each
    call that was not allowed; `lost`: the run is over.
    """

    def __init__(
        self, desk: Desk, cwd: Path, secrets: tuple[Secret, ...],
        known: Callable[[Mapping[str, Any]], Awaitable[Tool]], refused: Callable[[Mapping[str, Any]], None],
        lost: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._desk = desk
        self._secrets = secrets
        self._known = known
        self._refused = refused
        self._cwd = str(cwd)
        self._lost = lost
        self._over = asyncio.Event()
        self._notes: list[str] = []
        self._waiting = 0
        self.has_refused = False  # in this turn

    def end(self) -> None:
        """The turn was cancelled: whatever is asked is answered so."""
        self._over.set()

    def refusals(self) -> str:
        """What the operator said to what they refused since this was asked last: the protocol carries no reasons."""
        notes, self._notes = self._notes, []
        return "\n".join(notes)

    def refuse(self, why: str) -> None:
        """Something was refused without asking the operator; the program hears why with the next prompt."""
        self.has_refused = True
        if len(self._notes) < _NOTES_MAX and why not in self._notes:
            self._notes.append(why)

    async def answer(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The outcome for the program."""
        options = [mapping(each) for each in params["options"]] if isinstance(params.get("options"), list) else []
        once, no = _chosen(options, "allow_once"), _chosen(options, "reject_once", "reject_always") or CANCELLED
        call = mapping(params.get("toolCall"))
        answer = await self._bounded(call, once, no)
        if answer is not once:
            self._refused(call)
        return answer

    async def _bounded(
        self, call: Mapping[str, Any], once: Mapping[str, Any] | None, no: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        if self._waiting >= PERMISSIONS_WAITING:
            # Before anything is made of it: a flood costs as little as it can.
            return self._unasked(f"{PERMISSIONS_WAITING} questions of this run wait already; ask less at once", no)
        self._waiting += 1
        try:
            return await self._answered(call, once, no)
        finally:
            self._waiting -= 1

    async def _answered(
        self, call: Mapping[str, Any], once: Mapping[str, Any] | None, no: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """`once` is the program's yes for once, `no` its no: it hears a yes once each time.

        What the operator allowed for the run is remembered here, where they can see it.
        """
        try:
            tool = await self._known(call)
            if is_the_boards(tool):
                return once or CANCELLED
            if why := "" if once is not None else "it offers no permission for once alone":
                return self._unasked(why, no)
            if why := _unshowable(tool):
                return self._unasked(why, no)
            # It stands on the board for ever.
            wish = await asyncio.to_thread(_cleaned, tool, self._cwd, self._secrets)
        except RecursionError:
            return self._unasked("it asked with arguments that are nested too deep to be shown", no)
        said = await self._said(wish)
        if said is None or once is None:
            return CANCELLED
        if not said.is_allowed:
            self.refuse(f"{wish.title[:200]}: {said.note or '-'}")
            return no
        return once

    def _unasked(self, why: str, no: Mapping[str, Any]) -> Mapping[str, Any]:
        if why not in self._notes and len(self._notes) < _NOTES_MAX:
            self._desk.tell(Told.NOTICE, text=f"{why}: it was refused, and you were not asked")
        self.refuse(why)
        return no

    async def _said(self, wish: Wish) -> Permission | None:
        """The operator's word; None when the turn was cancelled meanwhile, or the run is over."""
        if self._over.is_set():
            return None
        asking = asyncio.create_task(self._ask(wish))
        over = asyncio.create_task(self._over.wait())
        try:
            await asyncio.wait((asking, over), return_when=asyncio.FIRST_COMPLETED)
        finally:
            over.cancel()
            if not asking.done():
                asking.cancel()
                await asyncio.wait([asking])
        if asking.cancelled():
            return None
        try:
            return asking.result()
        except Fenced as error:
            self._lost(error.message)
            return None
        except OpsroomError as error:
            self._desk.tell(Told.NOTICE, text=f"the operator could not be asked: {error.message}")
            return Permission(Permit.REFUSED, error.message)

    async def _ask(self, wish: Wish) -> Permission:
        await self._desk.may_go_on()
        return await self._desk.ask_permission(wish)


def _unshowable(tool: Tool) -> str:
    """Why the operator cannot be asked about this call; empty if they can."""
    if tool.is_cut:
        return "it asked about a call that is too large to be shown"
    if not (tool.title.strip() or tool.arguments or tool.changes or tool.texts or tool.locations):
        return "it asked about a call of which it told nothing"
    return ""


def _cleaned(tool: Tool, cwd: str, secrets: tuple[Secret, ...]) -> Wish:
    return _clean(wish_of(tool, cwd), cwd, secrets)


def _clean(wish: Wish, cwd: str, secrets: tuple[Secret, ...]) -> Wish:
    """The same without secrets in it; its own folder is none."""
    changes = tuple(
        Change(
            scrub(each.path, secrets),
            None if each.before is None else scrub(each.before, secrets),
            scrub(each.after, secrets),
        )
        for each in wish.changes
    )
    title, command, details = (scrub(text, secrets) for text in (wish.title, wish.command, wish.details))
    folder = wish.folder if wish.folder == cwd else scrub(wish.folder, secrets)
    return replace(wish, title=title, folder=folder, command=command, changes=changes, details=details)


def _chosen(options: list[Mapping[str, Any]], *kinds: str) -> Mapping[str, Any] | None:
    """The first option of the first of these kinds that is offered."""
    for kind in kinds:
        for option in options:
            if option.get("kind") == kind and isinstance(option.get("optionId"), str):
                return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}
    return None
