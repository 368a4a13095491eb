"""The sandbox as an authority: no network, no credentials."""

import trio

from gatewayd.clock import Clock
from gatewayd.messages import Request, Response
from gatewayd.tax.headers import texts
from gatewayd.tax.sandbox import Sandbox, SandboxRequest


class SandboxAuthority:
    """The pretended authority in this process."""

    def __init__(self, clock: Clock) -> None:
        self._sandbox = Sandbox()
        self._clock = clock

    async def answer(self, request: Request, org_id: str, *, fresh: bool = False) -> Response:
        """What the sandbox says. Raises nothing."""
        await trio.lowlevel.checkpoint()
        path, _, query = request.target.partition("?")
        sandboxed = SandboxRequest(
            method=request.method,
            path=path,
            query=query,
            headers=texts(request.headers),
            body=request.body,
            org_id=org_id,
            now=self._clock.now(),
        )
        answer = self._sandbox.answer(sandboxed)
        fields = [(name.encode(), value.encode()) for name, value in answer.headers.items()]
        return Response(answer.status, fields, answer.body)
