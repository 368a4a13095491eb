"""Bank lines and the operations of banking and accounting over them, called as a request would."""

from typing import Any, ClassVar

from gatewayd.areas.banking import AREA
from gatewayd.contract.decoding import RequestDecoder
from gatewayd.contract.operation import Operation
from tests.areas.accounting import books
from tests.ledger.bank_books import BankBooks

_OPERATIONS: dict[str, Operation] = {operation.id.partition(".")[2]: operation for operation in AREA.operations}


class BankedBooks(BankBooks):
    """An organization with bank accounts whose lines are allocated through the API."""

    operations: ClassVar = {**books.OPERATIONS, **_OPERATIONS}
    decoders: ClassVar = {**books.DECODERS, **{name: RequestDecoder(row) for name, row in _OPERATIONS.items()}}

    def part(self, line: str, category: str = "adminCosts", **fields: object) -> dict[str, Any]:
        """Allocate one part of a line; answers the allocation."""
        answer = self.post("allocate", bankTransactionId=line, parts=[{"category": category, **fields}])
        made: dict[str, Any] = answer["allocations"][-1]
        return made

    def left(self, line: str) -> int:
        return self.line_of(line).unallocated
