"""The sandbox as an authority: no network, no credentials."""

import trio

from gatewayd.clock import Clock
from gatewayd.tax.exchange import Answered, Outgoing
from gatewayd.tax.headers import texts
from gatewayd.tax.sandbox import Sandbox, SandboxRequest


class SandboxAuthority:
    """The pretended authority in this process."""

    def __init__(self, clock: Clock) -> None:
        self._sandbox = Sandbox()
        self._clock = clock

    async def answer(self, outgoing: Outgoing, org_id: str) -> Answered:
        """What the sandbox says. Raises nothing."""
        await trio.lowlevel.checkpoint()
        path, _, query = outgoing.line.partition("?")
        request = SandboxRequest(
            method="GET",
            path=path,
            query=query,
            headers=texts(outgoing.fields),
            body=outgoing.body or b"",
            org_id=org_id,
            now=self._clock.now(),
        )
        answer = self._sandbox.answer(request)
        fields = [(name.encode(), value.encode()) for name, value in answer.headers.items()]
        return Answered(answer.status, fields, answer.body)
