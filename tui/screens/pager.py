"""A text in the operator's own editor or pager, while the room stands aside; the company goes on."""

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from textual.app import App, SuspendNotSupported

from core.domain.errors import Invalid

_ASKED = ("VISUAL", "EDITOR", "PAGER")
MOST_BYTES = 4_000_000  # of a text that comes back; the board takes less


def program() -> list[str]:
    """The operator's editor, else their pager. Raises Invalid when there is none."""
    for name in _ASKED:
        try:
            words = shlex.split(os.environ.get(name, ""))
        except ValueError:
            raise Invalid(f"${name} cannot be read as a command.", "Mend it; c copies the text meanwhile.") from None
        if words:
            return words
    if less := shutil.which("less"):
        return [less]
    raise Invalid("Neither $EDITOR nor $PAGER is set.", "Set one before opening the room; c copies the text meanwhile.")


async def show_text(app: App[None], name: str, text: str) -> None:
    """Open a copy of a text under this file name; only its owner can read it, and it is gone afterwards.

    Raises Invalid when there is no program, or the terminal cannot be given to another one.
    """
    words = program()
    folder = await asyncio.to_thread(_put, name, text)
    try:
        await _run(app, [*words, str(folder / name)])
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, True))


async def page_text(app: App[None], name: str, text: str) -> None:
    """Show a text in $PAGER, else less or more: a copy that only its owner can read and nobody can write.

    Raises Invalid as `show_text`.
    """
    words = _asked("PAGER") or [found for each in ("less", "more") if (found := shutil.which(each))][:1]
    if not words:
        raise Invalid("There is no $PAGER, and no less or more.", "Set $PAGER before opening the room; Y copies.")
    folder = await asyncio.to_thread(_put, name, text, 0o400)
    try:
        await _run(app, [*words, str(folder / name)], mend="Mend $PAGER, or copy the text.")
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, True))


async def edit_copy(app: App[None], name: str, text: str) -> str:
    """Open a copy of a text in $VISUAL or $EDITOR and return it as it was saved; the file is gone afterwards.

    Raises Invalid as `show_text`, and where what was saved cannot be read.
    """
    words = _asked("VISUAL") or _asked("EDITOR")
    if not words:
        raise Invalid("$EDITOR is not set.", "Set it before opening the room.")
    folder = await asyncio.to_thread(_put, name, text)
    try:
        code = await _run(app, [*words, str(folder / name)], mend="Mend $EDITOR.")
        if code:
            raise Invalid(f"The editor ended with exit code {code}: nothing was taken.", "What was here is kept.")
        return await asyncio.to_thread(_take, folder / name)
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, True))


def _asked(name: str) -> list[str]:
    try:
        return shlex.split(os.environ.get(name, ""))
    except ValueError:
        raise Invalid(f"${name} cannot be read as a command.", "Mend it.") from None


def _take(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Invalid(f"What the editor saved cannot be read: {error.strerror}.", "What was here is kept.") from None
    if len(data) > MOST_BYTES:
        raise Invalid(f"What the editor saved is longer than {MOST_BYTES:,} bytes.", "What was here is kept.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Invalid("What the editor saved is no UTF-8.", "What was here is kept.") from None


async def edit_file(app: App[None], path: Path) -> None:
    """Open a file itself. Raises Invalid as `show_text`."""
    await _run(app, [*program(), str(path)])


def _put(name: str, text: str, mode: int = 0o600) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="opsroom-"))  # 0700
    with open(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(text.encode("utf-8", "backslashreplace"))
    return folder


async def hand_over(app: App[None], argv: list[str], *, cwd: Path, env: Mapping[str, str]) -> int:
    """Give the terminal to a program until it ends; the company goes on. Returns its exit code. Raises Invalid."""
    return await _run(app, argv, cwd=cwd, env=env, mend="Is it installed, and on the PATH?")


async def _run(
    app: App[None], argv: list[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None,
    mend: str = "Mend $EDITOR, or copy the text with c.",
) -> int:  # fmt: skip
    code = 0
    problem: BaseException | None = None
    try:
        # Nothing is painted meanwhile: there is no terminal to paint on.
        with app.batch_update(), app.suspend():
            # What is raised in here would keep the terminal from coming back.
            try:
                with _deaf():
                    code = await _ended(argv, cwd, env)
            except BaseException as error:
                problem = error
    except SuspendNotSupported:
        problem = Invalid("This terminal cannot be given to another program.", "c copies the text.")
    if isinstance(problem, OSError):
        problem = Invalid(f"{argv[0]} cannot be started: {problem.strerror}.", mend)
    if problem is not None:
        raise problem
    return code


async def _ended(argv: list[str], cwd: Path | None, env: Mapping[str, str] | None) -> int:
    process = await asyncio.create_subprocess_exec(*argv, cwd=cwd, env=env)
    try:
        return await process.wait()
    finally:
        # The room is left meanwhile, e.g. by a signal.
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Ctrl-C is the program's, not ours. A handler, not SIG_IGN: that one the program would inherit."""
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
