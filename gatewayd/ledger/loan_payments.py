"""Payments of mortgages, split into interest and capital when they are entered (Domain C2). Reads only.

What was split stays as it is, whatever becomes of the loan: figures of a year do not change with a rate of the next.
Chosen: a payment bears the interest of the instalment that is due nearest to its day, less what was entered as interest
for the same one.
"""

from collections.abc import Sequence
from typing import NamedTuple

from gatewayd.ledger import amortising, lets, loans, owners
from gatewayd.ledger.allocation_shapes import Allocation, Part
from gatewayd.ledger.businesses import Business
from gatewayd.ledger.categories import NOT_PNL
from gatewayd.ledger.lets import LetMortgage, Place
from gatewayd.store import ReadTx

_SELECT_SAID = """
SELECT sum(CASE WHEN direction = 'out' THEN amount ELSE -amount END) FROM allocations
WHERE org_id = :org_id AND property_id = :property_id AND mortgage_id = :mortgage_id AND date BETWEEN :first AND :last
    AND interest_source IS NOT NULL AND currency = :currency
"""


def is_payment(category: str, purpose: str | None) -> bool:
    """Whether it is to be split."""
    return category == NOT_PNL and purpose == "loan_payment"


class Paid(NamedTuple):
    """When something is paid, ISO, and in which currency; `before` is what is entered with it, of the same day."""

    date: str
    currency: str
    before: Sequence[Allocation]


def parts_of(tx: ReadTx, part: Part, paid: Paid, place: Place, business: Business | None) -> list[Part]:
    """The parts that a part is; itself where it is no payment, or one that does not fit.

    Its amount and direction are known, and its names are filled.
    """
    mortgage, let = place.mortgage, place.property
    if not is_payment(part.category, part.purpose) or mortgage is None or let is None or business is None:
        return [part]
    amount = part.amount or 0
    bears = part.vat_code or part.vat_amount or part.disallowable_amount or part.wholly_disallowable
    fits = (let.id, paid.currency, part.direction) == (mortgage.property_id, mortgage.currency, "out")
    if not fits or amount <= 0 or bears:
        return [part]
    owner = owners.find(tx, business.legal_entity_id)
    assert owner is not None  # a foreign key
    interest = _interest(tx, mortgage, paid, amount)
    line = lets.interest_category(let, business.type, owner, part.document_date or paid.date)
    parts = [
        part._replace(category=line, purpose=None, amount=interest, interest_source="computed"),
        part._replace(purpose="loan_capital", amount=amount - interest, disallowable_amount=None),
    ]
    first, *others = [one for one in parts if one.amount]
    return [first, *(one._replace(external_id=None) for one in others)]


def _interest(tx: ReadTx, mortgage: LetMortgage, paid: Paid, amount: int) -> int:
    """The interest in a payment, minor units of the mortgage's currency."""
    loan = loans.find(tx, mortgage.id)
    near = None if loan is None else amortising.instalment_near(loan, paid.date)
    if near is None:
        return 0
    asked = {"property_id": mortgage.property_id, "mortgage_id": mortgage.id, "currency": mortgage.currency}
    said = int(tx.value(_SELECT_SAID, first=near.first, last=near.last, **asked) or 0)
    before = (row for row in paid.before if row.interest_source is not None and row.mortgage_id == mortgage.id)
    said -= sum(row.signed for row in before)
    return min(amount, max(0, near.interest - said))
