"""A landlord's books in a test: properties whose money is allocated, through the operations of the area."""

from typing import Any, ClassVar

from gatewayd.areas.landlord import AREA
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.operation import Operation
from tests.areas.banking.lines import BankedBooks
from tests.areas.businesses.ledger_books import LedgerBooks
from tests.ledger import lets

_OPERATIONS: dict[str, Operation] = {operation.id.partition(".")[2]: operation for operation in AREA.operations}


class LetBooks(BankedBooks, LedgerBooks):
    """An organization that lets. `owner` is a person, and `lets` their UK property business on cash basis."""

    operations: ClassVar = {**BankedBooks.operations, **_OPERATIONS}
    decoders: ClassVar = {**BankedBooks.decoders, **{name: RequestDecoder(row) for name, row in _OPERATIONS.items()}}

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.owner = self.unregistered_entity()
        self.lets = self.trade(self.owner, type="uk_property", name="Lets")

    def property(self, business_id: str | None = None, **columns: Any) -> str:
        """A house that is let to live in, of `lets`, but for what `columns` say."""
        return self.write(lambda tx: lets.insert_property(tx, business_id or self.lets, **columns))

    def unit(self, property_id: str, **columns: Any) -> str:
        return self.write(lambda tx: lets.insert_unit(tx, property_id, **columns))

    def tenancy(self, property_id: str, **columns: Any) -> str:
        return self.write(lambda tx: lets.insert_tenancy(tx, property_id, **columns))

    def mortgage(self, property_id: str, **columns: Any) -> str:
        return self.write(lambda tx: lets.insert_mortgage(tx, property_id, **columns))
