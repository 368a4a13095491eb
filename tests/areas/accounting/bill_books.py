"""An organization that is charged: bills of suppliers, and bank lines that pay them."""

from typing import Any

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import BRITISH_VAT_NUMBER
from tests.areas.businesses.ledger_books import LedgerBooks
from tests.support.store import MemoryStore

Json = dict[str, Any]
BOARDS: Json = {"description": "Oak boards", "amount": "100.00", "category": "costOfGoods", "vatCode": "standard"}


class BillBooks(LedgerBooks):
    """An organization of one trade, on accruals and registered for VAT but for what `business` and `vat` say."""

    def __init__(self, store: MemoryStore, vat: Json | None = None, **business: object) -> None:
        super().__init__(store)
        terms = {"status": "registered", "effectiveDate": "2000-01-01", **(vat or {})}
        self.entity_id = self.entity(vat=terms, vatNumber=BRITISH_VAT_NUMBER)
        self.business_id = self.trade(self.entity_id, **{"accountingBasis": "accruals", **business})
        self.supplier = self.client("Sawmill Ltd")
        self.bank = self.account(self.entity_id)

    def bill(self, **fields: object) -> Json:
        """A bill of 100.00 and 20.00 of VAT, but for what `fields` say."""
        body: Json = {"billDate": "2026-11-02", "lines": [BOARDS], "allowDuplicate": True, **fields}
        if body.get("kind") not in ("credit_note", "expense_claim"):
            body.setdefault("supplierId", self.supplier)
        return self.post("createBill", **body)

    def credit_of(self, bill: Json, amount: str, **fields: object) -> Json:
        """A credit note of so much without VAT."""
        lines = [{**BOARDS, "amount": amount}]
        of = {"kind": "credit_note", "creditsBillId": bill["id"]}
        return self.bill(**{**of, "billDate": "2026-11-10", "lines": lines, **fields})

    def paid(self, bill: Json, **fields: object) -> Json:
        return self.post("recordBillPayment", billId=bill["id"], **fields)

    def now(self, bill: Json) -> Json:
        return self.one("getBill", f"billId={bill['id']}")

    def refused(self, operation: str, /, **body: object) -> Problem:
        with pytest.raises(Problem) as caught:
            self.post(operation, **body)
        return caught.value

    def wrong(self, **fields: object) -> list[tuple[str, str]]:
        with pytest.raises(Problem) as caught:
            self.bill(**fields)
        assert caught.value.code == "validation_failed", caught.value
        return [(error.path, error.code) for error in caught.value.errors]


def lines(*each: Json) -> list[Json]:
    """Lines of a request: `BOARDS` but for what each says."""
    return [{**BOARDS, **fields} for fields in each]
