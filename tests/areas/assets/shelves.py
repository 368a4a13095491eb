"""One organization's portfolios in a test: its operations called with wire values, as a request would."""

from typing import Any, ClassVar

from gatewayd.areas.assets import AREA
from gatewayd.areas.assets.books.instruments import Instrument
from gatewayd.areas.assets.instruments.shapes import InlineInstrument
from gatewayd.areas.assets.instruments.upserting import find_or_create
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.operation import Operation
from tests.areas.accounting.books import Books, Json

OPERATIONS: dict[str, Operation] = {operation.id.partition(".")[2]: operation for operation in AREA.operations}


class Shelves(Books):
    """An organization with a person who keeps portfolios."""

    operations: ClassVar = OPERATIONS
    decoders: ClassVar = {name: RequestDecoder(operation) for name, operation in OPERATIONS.items()}

    def person(self, **fields: object) -> str:
        return self.unregistered_entity(**{"type": "individual", **fields})

    def company(self) -> str:
        return self.unregistered_entity(type="limited_company", companyNumber="01234567")

    def portfolio(self, entity_id: str | None = None, **fields: object) -> Json:
        return self.post(
            "createPortfolio", **{"name": "Savings", "legalEntityId": entity_id or self.person(), **fields}
        )

    def account(self, portfolio_id: str, **fields: object) -> Json:
        values = {"name": "General", "type": "brokerage", "currency": "GBP", "portfolioId": portfolio_id}
        return self.post("createAccount", **{**values, **fields})

    def instrument(self, currency: str = "GBP", **given: Any) -> Instrument:
        request = InlineInstrument(**given)
        return self.store.write(lambda tx: find_or_create(tx, request, "instrument", currency), self.org_id)

    def enter(self, account_id: str, kind: str, date: str, **fields: object) -> Json:
        """Enter a transaction."""
        return self.post("createTransaction", accountId=account_id, type=kind, tradeDate=date, **fields)

    def positions(self, query: str) -> list[Json]:
        """Every position, page by page."""
        return self.walk("listPositions", query)
