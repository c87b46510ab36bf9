"""The door of a process that does not own the board: commands go to the owner through its unix socket."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.commands.registry import Answer, Command
from core.domain import errors
from core.domain.actors import Actor, Operator
from core.domain.errors import BoardOwned, Forbidden, OpsroomError

if TYPE_CHECKING:
    import httpx2

ERRORS: dict[str, type[OpsroomError]] = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, OpsroomError) and "code" in vars(kind)
}


class RemoteDoor:
    """Sends commands to the owner. Only the operator comes in through the socket (mode 0600)."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._client: httpx2.AsyncClient | None = None

    async def execute(self, actor: Actor, command: Command, *, key: str | None = None) -> Answer:
        """Carry one command out in the owner's process. Raises what the owner raised, or BoardOwned."""
        import httpx2

        if not isinstance(actor, Operator):
            raise Forbidden("Only the operator acts from another process.", "Use the agents' own door.")
        if self._client is None:
            transport = httpx2.AsyncHTTPTransport(uds=str(self._socket))
            self._client = httpx2.AsyncClient(transport=transport, base_url="http://opsroom", timeout=30)
        name = type(command).__name__
        headers = {"Idempotency-Key": key} if key else {}
        try:
            response = await self._client.post(
                f"/api/commands/{name}", json=command.model_dump(mode="json"), headers=headers
            )
        except httpx2.HTTPError as error:
            raise BoardOwned(
                f"The room that owns this board does not answer ({type(error).__name__}); it is not known whether the"
                " command was carried out.",
                "Look at the board, then try again.",
            ) from None
        try:
            body: dict[str, Any] = response.json()
        except ValueError:
            raise BoardOwned(f"The room that owns this board failed ({response.status_code}).", "Try again.") from None
        if "error" in body:
            problem = body["error"]
            raise ERRORS.get(problem["code"], OpsroomError)(problem["message"], problem["hint"])
        answer: Answer = body["answer"]
        return answer

    async def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None
