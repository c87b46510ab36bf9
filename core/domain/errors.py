"""The few kinds of errors that people and agents meet: each says what happened and what to do next."""


class OpsroomError(Exception):
    """Base of all expected errors.

    `message` says what happened and what was kept; `hint` says what to do next (may be empty).
    """

    code = "error"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class Conflict(OpsroomError):
    """The state of the thing does not allow the act (HTTP 409); names the state and the legal next acts."""

    code = "conflict"


class NotFound(OpsroomError):
    """No such thing on this board (HTTP 404)."""

    code = "not_found"


class Forbidden(OpsroomError):
    """This actor may not do that, or its run is no longer current (HTTP 403)."""

    code = "forbidden"


class Invalid(OpsroomError):
    """The request itself is wrong: unknown field, bad length, unknown filter (HTTP 422)."""

    code = "invalid"


class Fenced(Forbidden):
    """A write of a run that is no longer current: nothing was written."""

    code = "fenced"


class BoardError(OpsroomError):
    """The board's file or its owner is not usable; acknowledged changes are kept."""

    code = "board"


class BoardFull(BoardError):
    """No space left on the device."""

    code = "board_full"


class BoardCorrupt(BoardError):
    """The file is not a database, or its pages are damaged."""

    code = "board_corrupt"


class BoardTooNew(BoardError):
    """The schema was written by a newer Opsroom."""

    code = "board_too_new"


class BoardReadOnly(BoardError):
    """The file or its folder cannot be written."""

    code = "board_read_only"


class BoardReplaced(BoardError):
    """The file was deleted or replaced while it was open: writing stopped."""

    code = "board_replaced"


class BoardOwned(BoardError):
    """Another living process owns the board."""

    code = "board_owned"
