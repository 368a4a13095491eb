"""Every operation there is. The only place that imports every area."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from inspect import iscoroutinefunction
from typing import Final

import msgspec

from gatewayd import access, bundles, importing, parsing, proposing, search, tax, vault_files, webhooks
from gatewayd.areas import (
    accounting,
    assets,
    banking,
    billing,
    businesses,
    crm,
    landlord,
    legal_entities,
    organizations,
    periods,
    vault,
)
from gatewayd.areas.billing.costs import PricedWork
from gatewayd.bundles.engine import Bundles
from gatewayd.contract import signatures
from gatewayd.contract.given_files import StoredFile, WrittenFile
from gatewayd.contract.holding import HeldBy
from gatewayd.contract.operation import AT_CATALOGUE, Area, Handler, Handlers, Operation
from gatewayd.contract.scopes import ALL_SCOPES
from gatewayd.errors import ERRORS, FIELD_CODES
from gatewayd.http.openapi import explanation
from gatewayd.importing.engine import Importing
from gatewayd.importing.prices import PriceImporting
from gatewayd.ledger.credits.shapes import Unit
from gatewayd.mail.notices import Mailing
from gatewayd.outbound.transport import Policy
from gatewayd.papers import operations as paper_operations
from gatewayd.papers.engine import Papers
from gatewayd.parsing.engine import Parsing
from gatewayd.search.engine import Search
from gatewayd.tax.forwarding.proxy import Proxy
from gatewayd.vault_files.engine import VaultFiles
from gatewayd.webhooks.feeds.event_log import EventLog


class CatalogueError(Exception):
    """The rows contradict each other or themselves. Found at start, never at import."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """What rows of kind `call` are given to work with: the engines of one daemon."""

    tax: Proxy
    importing: Importing
    prices: PriceImporting
    bundles: Bundles
    vault_files: VaultFiles
    papers: Papers
    parsing: Parsing
    search: Search
    event_log: EventLog


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Areas whose rows are proven to fit together."""

    areas: tuple[Area, ...]

    @property
    def operations(self) -> tuple[Operation, ...]:
        return tuple(operation for area in self.areas for operation in area.operations)


AREAS: Final = (
    legal_entities.AREA,
    businesses.AREA,
    assets.AREA,
    landlord.AREA,
    accounting.AREA,
    banking.AREA,
    vault.AREA,
    periods.AREA,
    billing.AREA,
    webhooks.AREA,
    webhooks.EVENTS,
    tax.AREA,
    crm.AREA,
    organizations.AREA,
    access.AREA,
)
"""Every row there is, in the order of the description."""


def build(
    receivers: Policy,
    max_attempts: int,
    retention_days: int,
    of_documents: vault.Settings = vault.DEFAULTS,
    *,
    sends_mail: bool = True,
) -> Catalogue:
    """All areas, with the handlers that engines have and settings are bound to.

    `receivers` says which webhook URLs are allowed, `of_documents` the origin that clients see and what the vault may
    take, and `sends_mail` whether a server for mail is set. Raises `CatalogueError`.
    """
    areas = joined(
        AREAS,
        accounting.handlers(of_documents.public_url, Mailing(of_documents.public_url) if sends_mail else None),
        billing.handlers(priced_work(AREAS)),
        bundles.HANDLERS,
        importing.HANDLERS,
        paper_operations.HANDLERS,
        parsing.HANDLERS,
        periods.handlers(of_documents.public_url),
        proposing.HANDLERS,
        search.HANDLERS,
        tax.HANDLERS,
        vault.handlers(of_documents),
        vault_files.HANDLERS,
        webhooks.handlers(receivers, max_attempts, retention_days),
    )
    return checked(areas)


def joined(areas: Iterable[Area], *of_engines: Handlers) -> tuple[Area, ...]:
    """The areas, each handler at the row that stands without one. Raises `CatalogueError` naming every fault.

    A row that is left without a handler is refused by `checked`.
    """
    areas = tuple(areas)
    rows = {row.id: row for area in areas for row in area.operations}
    handlers: dict[str, Handler] = {}
    faults = []
    for operation_id, handler in (pair for engine_handlers in of_engines for pair in engine_handlers.items()):
        if operation_id not in rows:
            faults.append(f"{operation_id} has a handler and no row")
        elif operation_id in handlers or rows[operation_id].handler is not AT_CATALOGUE:
            faults.append(f"{operation_id} has two handlers")
        handlers[operation_id] = handler
    if faults:
        raise CatalogueError("; ".join(faults))
    return tuple(
        replace(area, operations=tuple(_with_handler(row, handlers) for row in area.operations)) for area in areas
    )


def _with_handler(row: Operation, handlers: Handlers) -> Operation:
    return replace(row, handler=handlers[row.id]) if row.id in handlers else row


def priced_work(areas: Iterable[Area]) -> PricedWork:
    """What can have a price: the rows of the areas and what they do that is priced apart, and the work of engines."""
    by_call: tuple[Unit, ...] = ("call",)
    names = [name for area in areas for operation in area.operations for name in operation.priced_as]
    return {**dict.fromkeys(names, by_call), **parsing.PRICED}


def checked(areas: tuple[Area, ...]) -> Catalogue:
    """The areas as a catalogue. Raises `CatalogueError` naming every fault."""
    catalogue = Catalogue(areas)
    faults = [fault for operation in catalogue.operations for fault in _faults(operation)]
    faults.extend(_clashes(catalogue.operations))
    if faults:
        raise CatalogueError("; ".join(faults))
    return catalogue


_GIVING = (("GET", "call", StoredFile), ("GET", "call", WrittenFile), ("GET", "read", WrittenFile))


def _faults(operation: Operation) -> Iterator[str]:
    name = operation.id
    if operation.handler is AT_CATALOGUE:
        yield f"{name} has no handler"
        return
    if not operation.scopes:
        yield f"{name} has no scope"
    for scope in operation.scopes:
        if scope not in ALL_SCOPES:
            yield f"{name} names the unknown scope {scope}"
    if operation.kind == "write" and operation.method == "GET":
        yield f"{name} is a GET that writes"
    if (operation.kind == "call") != iscoroutinefunction(operation.handler):
        yield f"{name} is a {operation.kind} row whose handler is of the other kind"
    if operation.relays and (operation.kind, operation.method) != ("call", "GET"):
        yield f"{name} relays and is no GET of kind call"
    if operation.relays and not operation.takes_incoming:
        yield f"{name} relays and takes no incoming request"
    if operation.takes_incoming and operation.kind != "call":
        yield f"{name} takes the incoming request and is not of kind call"
    if operation.takes_file and (operation.kind, operation.method) != ("call", "POST"):
        yield f"{name} takes a file and is no POST of kind call"
    if operation.gives_file and (operation.method, operation.kind, operation.response) not in _GIVING:
        yield f"{name} gives a file and is no GET that answers one"
    if operation.did_work is not None and (operation.kind != "call" or not operation.work):
        yield f"{name} tells of its answers whether they took work, and is no call that does any"
    if operation.takes_file and operation.takes_incoming:
        yield f"{name} takes a file and the incoming request"
    fields = {field.encode_name for field in msgspec.structs.fields(operation.request)}
    for parameter in operation.parameters:
        if parameter not in fields:
            yield f"{name} has no field for its path parameter {parameter}"
    for code in operation.errors:
        if code not in ERRORS and code not in FIELD_CODES:
            yield f"{name} names the unknown error {code}"
    if operation.held is not None:
        yield from (f"{name} is held {fault}" for fault in _faults_of_holding(operation, operation.held))
    yield from (f"{name}: {fault}" for fault in signatures.faults(operation))
    if not explanation(operation):
        yield f"{name} has no description"


def _faults_of_holding(operation: Operation, held: HeldBy) -> Iterator[str]:
    """What is wrong with how a row is held to legal entities and days; decision 0040."""
    fields = {field.name for field in msgspec.structs.fields(operation.request)}
    if operation.kind != "read":
        yield "and is no read"
    if not (held.entity or held.leads or held.by_handler):
        yield "by nothing"
    days = [] if held.days is None else [held.days.first, held.days.last, held.days.tax_year, *held.days.refused]
    for field in filter(None, [held.entity, *held.leads, *days]):
        if field not in fields:
            yield f"by {field}, which its request does not have"


def _clashes(operations: Iterable[Operation]) -> Iterator[str]:
    """Rows that share an id, or a method and shape of path; the RPC-style alias is a path too.

    A literal path goes before parameters, so that `/documents/recent` is never taken for a `/documents/:documentId`.
    """
    ids: set[str] = set()
    owners: dict[tuple[str, str], str] = {}
    for operation in operations:
        if operation.id in ids:
            yield f"{operation.id} is there twice"
            continue
        ids.add(operation.id)
        aliases = {(method, operation.alias) for method in operation.alias_methods}
        for address in {(operation.method, _shape(operation.path)), *aliases}:
            owner = owners.setdefault(address, operation.id)
            if owner != operation.id:
                yield f"{operation.id} and {owner} both claim {' '.join(address)}"


def _shape(path: str) -> str:
    return "/".join(":" if part.startswith(":") else part for part in path.split("/"))
