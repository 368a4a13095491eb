"""Periods and obligations for tests, through the handlers; legal entities and businesses too."""

import itertools
from collections.abc import Callable
from typing import Any

import msgspec

from gatewayd.areas import businesses, legal_entities, periods
from gatewayd.contract.caller import Role
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.operation import Operation
from gatewayd.errors import Problem
from gatewayd.http.render import success
from gatewayd.ledger.obligations import confirmations, schedule
from gatewayd.ledger.obligations.confirmations import Confirmed
from gatewayd.ledger.taxpayers import tax_year_figures
from gatewayd.ledger.taxpayers.tax_year_figures import TaxYearFigures
from gatewayd.store import ReadTx, WriteTx
from tests.areas.businesses.trades import Firm
from tests.support.rows import served
from tests.support.store import MemoryStore, make_caller
from tests.support.wire import expect_form

Json = dict[str, Any]
AREAS = (legal_entities.AREA, businesses.AREA, periods.AREA)
_ROWS: dict[str, Operation] = {row.id: row for row in served(*AREAS)}
_DECODERS = {name: RequestDecoder(row) for name, row in _ROWS.items()}


class Desk(Firm):
    """One organization's view of its calendar."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.role: Role = "owner"
        self.numbers = itertools.count(1)

    def know_incomes(self, entity_id: str | None = None) -> None:
        """Say that each year's qualifying income was so large that updates are due."""
        for year in range(2020, 2030):
            figures = TaxYearFigures(year, 90_000_00)
            who = entity_id or self.person
            self.store.write(lambda tx, of=who, said=figures: tax_year_figures.put(tx, of, said), self.org_id)

    def ask(self, operation: str, query: str = "") -> Json:
        request, handler = _DECODERS[operation].query(query), _ROWS[operation].handler
        return self._answer(operation, lambda tx: handler(tx, self._caller(), request), self.store.read)

    def do(self, operation: str, **values: object) -> Json:
        request, handler = _DECODERS[operation].body(msgspec.json.encode(values)), _ROWS[operation].handler
        return self._answer(operation, lambda tx: handler(tx, self._caller(), request), self.store.write)

    def run_row(self, row: Operation, body: Json) -> Json:
        """A write of another area."""
        request = RequestDecoder(row).body(msgspec.json.encode(body))
        found = self.store.write(lambda tx: row.handler(tx, self._caller(), request), self.org_id)
        answer: Json = msgspec.json.decode(success(found).body)
        return answer

    def refused(self, operation: str, **values: object) -> Problem:
        """The problem that the operation answers with."""
        try:
            answer = self.do(operation, **values)
        except Problem as problem:
            return problem
        raise AssertionError(f"{operation} was not refused: {answer}")

    def change_entity(self, entity_id: str, **values: object) -> Json:
        return self.do("legalEntity.updateLegalEntity", id=entity_id, **values)

    def vat_company(self, **values: object) -> str:
        vat = {"status": "registered", "effectiveDate": "2024-05-01", "scheme": "standard", "staggerGroup": 1, **values}
        return self.company(vatNumber="GB980780684", vat=vat)

    def periods(self, query: str = "") -> list[Json]:
        """Every period of a query, page by page."""
        return self._all("periods.list", query)

    def obligations(self, query: str = "") -> list[Json]:
        return self._all("obligations.list", query)

    def due(self, query: str = "") -> list[tuple[str, str, str]]:
        """End of the period, due date and state of each obligation."""
        return [(one["periodEndDate"], one["dueDate"], one["status"]) for one in self.obligations(query)]

    def one(self, query: str) -> Json:
        """The first obligation of a query."""
        return self.obligations(query)[0]

    def confirm(self, entity_id: str, *said: Confirmed) -> None:
        self.store.write(lambda tx: confirmations.confirm(tx, entity_id, said), self.org_id)

    def refresh(self, entity_id: str | None = None) -> None:
        self.store.write(lambda tx: schedule.refresh(tx, entity_id or self.person), self.org_id)

    def _all(self, operation: str, query: str) -> list[Json]:
        found: list[Json] = []
        cursor = None
        while True:
            page = self.ask(operation, "&".join(filter(None, (query, cursor and f"cursor={cursor}"))))
            found += page["data"]
            cursor = page["nextCursor"]
            if cursor is None:
                return found

    def _caller(self) -> Any:
        return make_caller(self.org_id, role=self.role)

    def _answer(
        self,
        operation: str,
        work: Callable[[Any], object],
        run: Callable[[Callable[[ReadTx], object], str], object] | Callable[[Callable[[WriteTx], object], str], object],
    ) -> Json:
        answer: Json = msgspec.json.decode(success(run(work, self.org_id)).body)
        expect_form(answer, _ROWS[operation].response)
        return answer
