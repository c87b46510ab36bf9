"""What a run was told, read again from the file that was kept beside its transcript."""

import json
import os
import stat
from pathlib import Path

from core.domain.errors import Invalid, NotFound
from core.prompting.fence import NONCE_FORM
from core.prompting.prompt import Prompt

FILE_MAX = 33_554_432  # bytes; the largest budget makes a few millions


def read_kept(path: Path) -> Prompt:
    """The prompt in a run's `<id>.prompt.json`. Blocks. Raises NotFound without one, Invalid for what is none."""
    try:
        # A link or a pipe in its place is nothing that the program wrote.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise _broken(path, "it is no file")
            with open(descriptor, "rb", closefd=False) as file:
                data = file.read(FILE_MAX + 1)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        number = path.name.partition(".")[0]
        raise NotFound(
            f"No prompt was kept of R{number}: it was run before prompts were kept, was never begun, or {path.name}"
            " was removed.",
            "What it said is in its transcript.",
        ) from None
    except OSError as error:
        raise _broken(path, f"it cannot be read: {error.strerror}") from None
    if len(data) > FILE_MAX:
        raise _broken(path, f"it has more than {FILE_MAX >> 20} MiB")
    try:
        prompt = Prompt.from_json(json.loads(data))
        # Any other text could be taken out of the hash, and so put into what was told.
        if not NONCE_FORM.fullmatch(prompt.nonce):
            raise ValueError
        prompt.text.encode()  # half a character has no hash, and was never told
        return prompt
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, RecursionError):
        raise _broken(path, "it is no prompt as this program keeps it") from None


def _broken(path: Path, why: str) -> Invalid:
    return Invalid(f"runs/{path.name} does not tell what the run was told: {why}.", "Put a backup of it in its place.")
