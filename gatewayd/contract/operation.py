"""The row: everything the API does is one `Operation`, and all else is derived from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import msgspec

from gatewayd.contract.holding import HeldBy

Kind = Literal["read", "write", "call"]
Method = Literal["GET", "POST", "PATCH", "DELETE"]

BILLING: Final = "billing"
"""The area whose operations are never charged."""
TAX_FORWARD: Final = "tax.forward"
"""The work of asking the tax authority (Domain B8): one call of ours, however many requests it takes."""

Handler = Callable[..., Any]
"""`(tx or deps, caller, request) -> response`. Plain `def` for read and write rows, `async def` for call rows.

A handler answers its response struct, the `Rendered` JSON of it, or a `Listing`. That of a row that `takes_incoming`
takes the HTTP `Request` after it, and that of a row that `takes_file` the `ReceivedFile`; that of a row that `relays`
answers an HTTP `Response`, which is somebody else's.
"""

Handlers = Mapping[str, Handler]
"""Handlers by the ids of their operations: those that an engine has, or that are bound to settings."""


def _at_catalogue(*_: object) -> object:
    raise NotImplementedError("its handler is joined to it at `catalogue`")


AT_CATALOGUE: Final[Handler] = _at_catalogue
"""What a row says whose handler is joined to it at `catalogue`: an engine has it, or it is bound to settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation of the API.

    `scopes` are all needed. `path` is relative to the mount, with `:name` parameters that are fields of `request`.
    `handler` is `AT_CATALOGUE` where an engine has it, or it is bound to settings.
    `errors` names the codes beyond the common ones. `long` reads go to a reader thread at once.
    `secret` responses are sealed where the idempotency record keeps them. `extension` rows are not in the spec.
    `example` is a request that is valid but for the ids in it. `cost` is what one call takes from the rate limit.
    `takes_incoming` marks a row of kind `call` whose handler is given the request as it came; `relays` one of those, a
    GET, that passes somebody else's answer on: see `Handler`.
    `gives_file` is the media type of the file that a GET answers: of kind `call` a `StoredFile`, of kind `read` a
    `WrittenFile`; empty: JSON.
    `takes_override`: it writes in days that are being closed where its caller says so, as what may answer
    `period_closed` does.
    `work` is what a call of it does that is priced apart from its own id (Domain B8), for every request or for those
    that `does_work` says so of; empty: nothing. `did_work` says of an answer, of a row of kind `call`, whether the work
    was done for it after all; None: it always was.
    `takes_file` marks a POST of kind `call` whose body is a file of any media type, and whose request is the query.
    `held` says how a read keeps to the legal entities and days that a key is held to; None: it is refused to such keys.
    A call that raises a `Problem` says that it did nothing which may not be done again; whatever else ends it leaves
    its `Idempotency-Key` with an unknown outcome.
    """

    id: str
    kind: Kind
    method: Method
    path: str
    scopes: tuple[str, ...]
    request: type[msgspec.Struct]
    response: Any
    handler: Handler
    errors: tuple[str, ...] = ()
    long: bool = False
    secret: bool = False
    extension: bool = False
    takes_incoming: bool = False
    relays: bool = False
    takes_file: bool = False
    takes_override: bool = False
    gives_file: str = ""
    cost: int = 1
    work: str = ""
    does_work: Callable[[Any], bool] | None = None
    did_work: Callable[[Any], bool] | None = None
    held: HeldBy | None = None
    example: Mapping[str, object] = field(default_factory=dict)

    @property
    def area(self) -> str:
        """The part of the id before its dot."""
        return self.id.partition(".")[0]

    @property
    def alias(self) -> str:
        """The RPC-style path of the same row: `/accounting/listInvoices`."""
        return "/" + self.id.replace(".", "/")

    @property
    def alias_methods(self) -> tuple[Method, ...]:
        """The methods of that path: GET of what reads, else POST, and the row's own, which tools send to it too."""
        return ("GET",) if self.method == "GET" else tuple(dict.fromkeys(("POST", self.method)))

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the path parameters, in order, as the wire spells them."""
        return tuple(part[1:] for part in self.path.split("/") if part.startswith(":"))

    @property
    def has_body(self) -> bool:
        """True where the request is a JSON body; otherwise it is the query."""
        return self.method in ("POST", "PATCH") and not self.takes_file

    @property
    def priced_as(self) -> tuple[str, ...]:
        """The names under which a call of it may have a price: its own id, and what it does that is priced apart.

        Chosen: none of billing, or who has nothing left could not be told so, nor be given anything.
        """
        if self.area == BILLING:
            return ()
        return (self.id, self.work) if self.work else (self.id,)

    def charged_as(self, request: msgspec.Struct) -> tuple[str, ...]:
        """Those of them that this request is charged under."""
        if self.does_work is not None and not self.does_work(request):
            return self.priced_as[:1]
        return self.priced_as

    def spares(self, answer: object) -> str:
        """The work that an answer came about without, though its request asked for it; empty: none."""
        return "" if self.did_work is None or self.did_work(answer) else self.work

    @property
    def overrides_closing(self) -> bool:
        """True where a caller may say that it writes in a period that is being closed (domain model B9)."""
        return self.takes_override or "period_closed" in self.errors

    @property
    def takes_key(self) -> bool:
        """True where an `Idempotency-Key` makes a retry safe: for whatever changes something."""
        return self.method != "GET" and self.kind != "read"


@dataclass(frozen=True, slots=True)
class Area:
    """One area's rows under the heading it has in the description."""

    name: str
    title: str
    operations: tuple[Operation, ...]
