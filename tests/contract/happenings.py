"""Random acts of every kind upon an organization, through the API: what examples say, with other ids, days and sums."""

import datetime
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, get_args, get_origin

import msgspec

from gatewayd.contract.operation import Operation
from gatewayd.contract.wire import encode
from tests.contract.rows import BY_ID, OPERATIONS, query_of, send
from tests.support.api import Reply, TestedApi
from tests.support.statement_files import file_of, line, opened, statement, trade

_ID = re.compile(r"\b([a-z]{2,5})_[0-9a-z]{26}\b")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SUM = re.compile(r"-?\d+\.\d\d")
_KEPT: Final = 60  # ids of a kind: what was used long ago is seldom of use
_APART: Final = ("organizations.", "billing.", "access.", "vat.", "itsa", "selfAssessment.", "events.")
"""What is about the instance, or reads."""
_NOT_ACTS: Final = {
    "vault.searchDocuments",
    "vault.getDocumentDownloadUrl",
    "periods.getBundle",
    "periods.sealDifference",
    "webhooks.recover",
    "assets.importPrices",
    "banking.importStatement",
    "assets.importTransactions",
}
ACTS: Final = tuple(
    operation
    for operation in OPERATIONS
    if operation.kind != "read" and not operation.id.startswith(_APART) and operation.id not in _NOT_ACTS
)
_UNUSED: Final = {"expectedVersion", "dryRun", "preview"}
_OFTEN: Final = {  # by how much more than others
    "accounting.createInvoice": 6,
    "accounting.issueInvoice": 4,
    "accounting.recordPayment": 6,
    "accounting.removePayment": 3,
    "accounting.deleteInvoice": 3,
    "banking.allocate": 10,
    "banking.removeAllocation": 4,
    "banking.undoImport": 3,
    "assets.createTransaction": 5,
    "assets.undoImport": 3,
    "landlord.updateTenancy": 3,
    "landlord.recordRent": 3,
    "periods.close": 2,
    "periods.reopen": 3,
}


def _samples() -> dict[str, list[object]]:
    """What examples have under a name, of whichever operation."""
    samples: dict[str, list[object]] = defaultdict(list)
    for operation in OPERATIONS:
        for name, value in operation.example.items():
            if value not in samples[name]:
                samples[name].append(value)
    return samples


SAMPLES: Final = _samples()


def _choices(type_: Any) -> tuple[object, ...]:
    """What a field may be where that is a closed set: of a literal or a truth; null too, where it may be."""
    if get_origin(type_) is Literal:
        return get_args(type_)
    if type_ is bool:
        return (True, False)
    if type_ is type(None):
        return (None,)
    if get_origin(type_) is list:
        return ()
    return tuple(choice for part in get_args(type_) for choice in _choices(part))


class Happenings:
    """Lets things happen, each as likely as its kind is to be done. `done` counts what was, by the operation's id."""

    def __init__(self, api: TestedApi, ids: Mapping[str, str], seed: int) -> None:
        self.api, self.chance = api, random.Random(seed)
        self.ids: dict[str, list[str]] = defaultdict(list)
        self.done: Counter[str] = Counter()
        self.number = 0
        self.last = self.refused = ""
        for id_ in ids.values():
            self.know(id_)

    async def act(self) -> None:
        """Do something, until it is done and not refused."""
        while not await self.attempt():
            pass

    async def attempt(self) -> bool:
        """Try to do something at random. Whether it was done."""
        kind = self.chance.random()
        if kind < 0.06:
            return await self.import_statement(self.chance.randrange(1, 9))
        if kind < 0.10:
            return await self.import_trades()
        weights = [_OFTEN.get(operation.id, 1) for operation in ACTS]
        operation = self.chance.choices(ACTS, weights)[0]
        return await self.send(operation, self.request_of(operation))

    async def send(self, operation: Operation, values: Mapping[str, Any]) -> bool:
        """Whether it was done."""
        return self.note(operation, values, await send(self.api, operation, values))

    def note(self, operation: Operation, values: object, reply: Reply) -> bool:
        """What became of it."""
        assert reply.status < 500, (operation.id, values, reply.body)
        said = "" if operation.gives_file else reply.body.decode()
        if reply.status != 200:
            self.refused = f"{operation.id} {encode(values).decode()} -> {reply.body.decode()[:600]}"
            return False
        self.done[operation.id] += 1
        self.last = f"{operation.id} {encode(values).decode()} -> {said[:600]}"
        for match in _ID.finditer(said):
            self.know(match[0])
        return True

    def know(self, id_: str) -> None:
        known = self.ids[id_.partition("_")[0]]
        if id_ not in known:
            known.append(id_)
            if len(known) > _KEPT:
                known.pop(self.chance.randrange(len(known)))

    # -- requests

    def request_of(self, operation: Operation) -> dict[str, object]:
        """The example of an operation, changed at random."""
        self.number += 1
        values = {name: value for name, value in operation.example.items() if name not in _UNUSED}
        for field in msgspec.structs.fields(operation.request):
            name = field.encode_name
            if name in _UNUSED or self.chance.random() > 0.15:
                continue
            choices = _choices(field.type)
            if not field.required and name in values and self.chance.random() < 0.2:
                del values[name]
            elif choices and choices != (None,) and self.chance.random() < 0.7:
                values[name] = self.chance.choice(choices)
            elif SAMPLES.get(name):
                values[name] = self.chance.choice(SAMPLES[name])
        return {name: self.varied(name, value) for name, value in values.items()}

    def varied(self, name: str, value: object) -> object:
        """A value of an example with another id, day, sum or name in its place."""
        if isinstance(value, list):
            return [self.varied(name, each) for each in value]
        if isinstance(value, dict):
            return {key: self.varied(key, each) for key, each in value.items()}
        if name == "position":
            return self.chance.randrange(1, 3)
        if not isinstance(value, str):
            return value
        if (match := _ID.fullmatch(value)) is not None:
            return self.chance.choice(self.ids[match[1]] or [value])
        if name == "accountNumber":
            return str(self.chance.randrange(10_000_000, 99_999_999))
        if _DAY.fullmatch(value) and self.chance.random() < 0.5:
            day = datetime.date.fromisoformat(value) + datetime.timedelta(self.chance.randrange(-90, 90))
            return day.isoformat()
        if _SUM.fullmatch(value) and self.chance.random() < 0.5:
            return f"{self.chance.randrange(1, 30_000) / 100:.2f}"
        return f"{value[:60]} {self.number}" if name in ("name", "nickname", "externalId", "code") else value

    # -- files

    async def import_statement(self, count: int, **values: object) -> bool:
        """Import so many new lines, some of them pending, perhaps as a preview; `values` are of the request."""
        self.number += 1
        lines = [
            line(
                at + 2,
                None if self.chance.random() < 0.1 else f"2026-{self.chance.randrange(7, 12):02}-{at % 28 + 1:02}",
                self.chance.randrange(-30_000, 30_000) or 1,
                f"{self.chance.choice(['PAPER MILL', 'RENT', 'TESCO'])} {self.number} {at}",
            )
            for at in range(count)
        ]
        values = {"accountId": self.chance.choice(self.ids["bac"]), "fileName": "march.csv", **values}
        return await self._import("banking.importStatement", values, statement(lines))

    async def import_trades(self) -> bool:
        """Import a few trades of one instrument or several."""
        self.number += 1
        trades = [
            trade(
                at + 2, self.chance.choice(["buy", "buy", "interest", "deposit"]), "2026-11-05", 100 * self.number + at
            )
            for at in range(self.chance.randrange(1, 5))
        ]
        bought = [
            trade(row.line or 0, "buy", str(row.date), row.gross or 0, self.chance.choice(["BRCH", "ELMR"]))
            if row.type == "buy"
            else row
            for row in trades
        ]
        values = {"accountId": self.chance.choice(self.ids["acc"]), "fileName": "trades.csv"}
        return await self._import("assets.importTransactions", values, file_of([opened(), *bought]))

    async def _import(self, operation_id: str, values: dict[str, Any], content: bytes) -> bool:
        operation = BY_ID[operation_id]
        query = dict(values)
        if values.get("preview") is None and self.chance.random() < 0.2:
            query["preview"] = True
        path = operation.path.replace(":accountId", str(query.pop("accountId")))
        return self.note(operation, values, await self.api("POST", path, query=query_of(query), body=content))


def shown_whole(operation: Operation) -> Iterator[tuple[str, object]]:
    """The parameters with which a list leaves nothing out."""
    for field in msgspec.structs.fields(operation.request):
        if field.encode_name in ("includeArchived", "includeReversed", "includeSuperseded", "includeFormer"):
            yield field.encode_name, True
    if operation.id == "obligations.list":
        yield "status", list(_status_choices(operation))


def _status_choices(operation: Operation) -> tuple[object, ...]:
    types = {field.encode_name: field.type for field in msgspec.structs.fields(operation.request)}
    listed = next(part for part in get_args(types["status"]) if part is not type(None))
    return _literals(listed)


def _literals(type_: Any) -> tuple[object, ...]:
    if get_origin(type_) is Literal:
        return get_args(type_)
    return tuple(value for part in get_args(type_) for value in _literals(part))
