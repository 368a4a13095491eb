"""What is owed on all loans at once is looked up, and is what each of them comes to."""

import pytest

from gatewayd.areas.landlord.mortgages.rows import MORTGAGES, keep_owed, loan_of
from gatewayd.ledger.loans import amortising, loans
from tests.areas.landlord.premises import Premises

IDS = "SELECT id FROM mortgages WHERE org_id = :org_id"
DAYS = (
    *("2024-12-31", "2025-01-01", "2025-01-31", "2025-02-01", "2025-08-15", "2026-01-31", "2026-06-14", "2026-06-15"),
    *("2026-06-30", "2026-09-30", "2026-10-01", "2026-11-20", "2026-12-31", "2050-01-01", "2080-07-01"),
)


def all_kinds(premises: Premises) -> list[str]:
    """Mortgages of houses of their own, by whatever says what is owed."""
    said = [{"currentBalance": f"{balance}.00", "balanceDate": "2026-06-15"} for balance in (0, 90_000, 150_000)]
    made = [
        premises.mortgage(**kind, **words)["id"]
        for words in ({}, *said)
        for kind in (
            {},
            {"type": "repayment", "termMonths": 300},
            {"type": "repayment", "termMonths": 20},
            {"type": "repayment", "termMonths": 300, "rateEndDate": "2025-07-31", "reversionRate": "8.5"},
            {"type": "part_and_part", "monthlyPayment": "1250.00"},
        )
    ]
    later = premises.mortgage(type="repayment", termMonths=300, **said[1])
    premises.post("updateMortgage", id=later["id"], currentBalance="80000.00", balanceDate="2026-10-01")
    premises.mortgage(redeemedDate="2026-07-01", **said[2])
    return [*made, later["id"]]


def owed(premises: Premises, day: str) -> list[tuple[str, int]]:
    return sorted(premises.read(lambda tx: [*loans.balances_on(tx, day)]))


@pytest.mark.parametrize("is_kept", [True, False])
def test_what_is_looked_up_of_all_is_what_each_loan_comes_to(premises: Premises, is_kept: bool) -> None:
    """Whether it is kept with the row, or a migration has left it open."""
    all_kinds(premises)
    if not is_kept:
        premises.store.connection.execute("UPDATE mortgages SET owed_by_month = x''")
    rows = premises.read(lambda tx: [MORTGAGES.get(tx, id_) for (id_,) in tx.rows(IDS)])
    for day in DAYS:
        running = [row for row in rows if row.start_date <= day and (row.redeemed_date or "9999") > day]
        each = [(row.property_id, amortising.balance_on(loan_of(row), day)) for row in running]
        assert owed(premises, day) == sorted(each), day


def test_what_is_kept_follows_each_change_and_what_is_not_so_is_found(premises: Premises) -> None:
    ids = sorted(all_kinds(premises))

    def wrong() -> list[str]:
        return [id_ for id_, is_stale in premises.read(lambda tx: loans.stale(tx, "", 99)) if is_stale]

    assert wrong() == []
    premises.store.connection.execute("UPDATE mortgages SET owed_by_month = x'' WHERE id = ?", (ids[0],))
    assert wrong() == [], "nobody has computed it"
    premises.store.connection.execute("UPDATE mortgages SET monthly_payment = 1 WHERE type = 'part_and_part'")
    found = wrong()
    assert len(found) == 4
    premises.store.write(lambda tx: [keep_owed(tx, id_) for id_ in (*found, ids[0])], premises.org_id)
    assert wrong() == []
    assert premises.store.connection.execute("SELECT min(length(owed_by_month)) > 0 FROM mortgages").fetchone() == (1,)
