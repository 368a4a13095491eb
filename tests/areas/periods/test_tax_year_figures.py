"""Quarterly updates and payments on account follow from figures of earlier years (Domain C6)."""

import pytest

from gatewayd.areas.businesses.shapes import Latency, TaxSync
from gatewayd.clock import DAY
from gatewayd.errors import Problem
from gatewayd.ledger.obligations import obligations
from tests.areas.accounting.books import fields_of
from tests.areas.periods.desk import Desk, Json
from tests.support.store import MemoryStore

YEAR = "kind=itsa_quarterly_update&dueDateFrom=2026-08-01&dueDateTo=2027-06-01"
_TOLD = """
SELECT kind FROM obligations WHERE org_id = :org_id AND (due_soon_for IS NOT NULL OR overdue_for IS NOT NULL)
"""
OLD = {"commencementDate": "2019-05-01"}


@pytest.fixture
def asking(store: MemoryStore) -> Desk:
    """A person of whom no income is known, on 20 November 2026."""
    return Desk(store)


def say(desk: Desk, year: str, **figures: object) -> Json:
    return desk.do("legalEntity.setTaxYear", id=desk.person, taxYear=year, **figures)


def updates(desk: Desk, first: int = 2026) -> list[str]:
    """The states of the updates of a tax year."""
    query = f"kind=itsa_quarterly_update&dueDateFrom={first}-08-01&dueDateTo={first + 1}-06-01"
    return [one["status"] for one in desk.obligations(query)]


def test_what_nobody_knows_is_undecided_and_never_overdue(asking: Desk) -> None:
    trade = asking.create(**OLD)
    found = asking.obligations(YEAR)
    assert [(one["status"], one["undecided"]) for one in found] == [("open", True)] * 4
    assert asking.obligations("status=overdue") == []
    assert len(asking.obligations(f"status=open&businessId={trade['id']}")) == 8
    asking.store.clock.advance(90 * DAY)
    asking.store.write(lambda tx: obligations.tell_some(tx, 30), asking.org_id)
    told = asking.store.read(lambda tx: tx.rows(_TOLD), asking.org_id)
    assert not [kind for (kind,) in told if kind == "itsa_quarterly_update"]
    assert not [one for one in asking.obligations("status=overdue") if one["kind"] == "itsa_quarterly_update"]


@pytest.mark.parametrize(
    ("income", "states"),
    [
        ("7000.00", []),
        ("50000.00", []),
        ("50000.01", ["overdue", "overdue", "open", "open"]),
    ],
)
def test_more_than_50_000_in_2024_25_makes_updates_due_in_2026_27(asking: Desk, income: str, states: list[str]) -> None:
    asking.create(**OLD)
    shown = say(asking, "2024-25", qualifyingIncome=income)
    assert (shown["taxYear"], shown["qualifyingIncome"], shown["taxAssessed"]) == ("2024-25", income, None)
    assert updates(asking) == states
    assert not any(one["undecided"] for one in asking.obligations(YEAR))


def test_30_000_decides_of_2027_28(asking: Desk) -> None:
    """Below the threshold of the year before, and above that of the next."""
    asking.create(**OLD)
    say(asking, "2024-25", qualifyingIncome="40000.00")
    say(asking, "2025-26", qualifyingIncome="30000.01")
    assert (updates(asking), updates(asking, 2027)) == ([], ["open"] * 4)
    say(asking, "2025-26", qualifyingIncome="30000.00")
    assert updates(asking, 2027) == []


def test_who_began_goes_on_until_three_years_were_below(asking: Desk) -> None:
    """50,001 in 2024-25 makes updates due in 2026-27, and little income in 2025-26 does not end them."""
    asking.create(**OLD)
    say(asking, "2024-25", qualifyingIncome="50001.00")
    say(asking, "2025-26", qualifyingIncome="1000.00")
    assert updates(asking, 2027) == ["open"] * 4


def test_who_had_no_source_had_no_income(asking: Desk) -> None:
    asking.create(commencementDate="2026-04-06")
    assert (updates(asking), updates(asking, 2027)) == ([], [])


def test_the_authority_and_an_exemption_go_before_the_income(asking: Desk) -> None:
    asking.create(**OLD)
    say(asking, "2024-25", qualifyingIncome="90000.00")
    say(asking, "2026-27", isExempt=True)
    assert updates(asking) == []
    say(asking, "2026-27", isExempt=False)
    assert len(updates(asking)) == 4


def test_what_is_said_again_keeps_the_rest_and_null_forgets(asking: Desk) -> None:
    say(asking, "2024-25", qualifyingIncome="90000.00", taxAssessed="20000.00", taxDeducted="500.00")
    say(asking, "2024-25", taxDeducted=None)
    (shown,) = asking.ask("legalEntity.listTaxYears", f"id={asking.person}")["data"]
    assert (shown["qualifyingIncome"], shown["taxAssessed"], shown["taxDeducted"]) == ("90000.00", "20000.00", None)


@pytest.mark.parametrize(
    ("figures", "field"),
    [
        ({"qualifyingIncome": "-1"}, ("qualifyingIncome", "out_of_range")),
        ({"qualifyingIncome": "1.001"}, ("qualifyingIncome", "invalid_decimal")),
        ({"taxDeducted": "1"}, ("taxDeducted", "out_of_range")),
    ],
)
def test_figures_that_are_none(asking: Desk, figures: Json, field: tuple[str, str]) -> None:
    problem = asking.refused("legalEntity.setTaxYear", id=asking.person, taxYear="2024-25", **figures)
    assert fields_of(problem) == [field]


def test_a_year_is_a_tax_year_and_of_a_person(asking: Desk) -> None:
    problem = asking.refused("legalEntity.setTaxYear", id=asking.person, taxYear="2024-26")
    assert fields_of(problem) == [("taxYear", "invalid_format")]
    problem = asking.refused("legalEntity.setTaxYear", id=asking.company(), taxYear="2024-25")
    assert fields_of(problem) == [("id", "conflict")]
    nobody = "ent_01k0000000000000000000000z"
    assert asking.refused("legalEntity.setTaxYear", id=nobody, taxYear="2024-25").code == "not_found"
    with pytest.raises(Problem):
        asking.ask("legalEntity.listTaxYears", f"id={nobody}")


# -- payments on account


def payments(desk: Desk) -> list[tuple[str, str, str]]:
    return [
        (one["periodEndDate"], one["dueDate"], one["amountDue"]) for one in desk.obligations("kind=payment_on_account")
    ]


def test_half_of_last_years_tax_is_paid_twice(asking: Desk) -> None:
    """GOV.UK's example: a bill of 3,000 for 2024-25 makes two payments of 1,500 towards 2025-26's."""
    asking.create(**OLD)
    say(asking, "2025-26", taxAssessed="3000.00")
    assert payments(asking) == [("2027-04-05", "2027-01-31", "1500.00"), ("2027-04-05", "2027-07-31", "1500.00")]
    say(asking, "2025-26", taxAssessed="4000.00", taxDeducted="800.00")
    assert [amount for *_, amount in payments(asking)] == ["1600.00", "1600.00"]


@pytest.mark.parametrize(
    ("assessed", "deducted", "count"),
    [
        ("999.99", "0", 0),
        ("1000.00", "0", 2),
        ("10000.00", "8000.00", 2),  # 80 %, and not more
        ("10000.00", "8000.01", 0),
        ("1500.00", "500.01", 0),  # less than 1,000 is left
    ],
)
def test_little_tax_or_much_that_was_deducted_makes_none(
    asking: Desk, assessed: str, deducted: str, count: int
) -> None:
    asking.create(**OLD)
    say(asking, "2025-26", taxAssessed=assessed, taxDeducted=deducted)
    assert len(payments(asking)) == count


def test_what_is_corrected_is_put_away_and_what_was_entered_stays(asking: Desk) -> None:
    asking.create(**OLD)
    say(asking, "2025-26", taxAssessed="3000.00")
    say(asking, "2025-26", taxAssessed="300.00")
    assert payments(asking) == []
    entered = {"legalEntityId": asking.person, "kind": "payment_on_account", "periodEndDate": "2026-04-05"}
    asking.do("obligations.create", **entered, dueDate="2026-07-31", amountDue="50.00")
    say(asking, "2025-26", taxAssessed="0")
    assert payments(asking) == [("2026-04-05", "2026-07-31", "50.00")]


def test_the_authority_that_calls_a_source_quarterly_decides(asking: Desk) -> None:
    latency = Latency(end_date="2028-04-05", tax_year1="2026-27", indicator1="Q", tax_year2="2027-28", indicator2="A")
    record = TaxSync(status="in_sync", synced_at=None, error=None, latency=latency, year_of_migration=None)
    trade = asking.adopt(record=record)
    assert trade.id
    found = asking.obligations("kind=itsa_quarterly_update")
    assert [(one["periodEndDate"], one["undecided"]) for one in found] == [
        ("2026-07-05", False),
        ("2026-10-05", False),
        ("2027-01-05", False),
        ("2027-04-05", False),
    ]


def test_where_a_person_was_resident_is_said_by_year(asking: Desk) -> None:
    asking.create(**OLD)
    assert say(asking, "2024-25", residence="not_resident")["residence"] == "not_resident"
    both = say(asking, "2024-25", qualifyingIncome="90000.00")  # an absent field stays
    assert (both["residence"], both["qualifyingIncome"]) == ("not_resident", "90000.00")
    say(asking, "2025-26", residence="split")
    shown = asking.ask("legalEntity.listTaxYears", f"id={asking.person}")["data"]
    assert [(one["taxYear"], one["residence"], one["isExempt"]) for one in shown] == [
        ("2024-25", "not_resident", False),
        ("2025-26", "split", False),
    ]
    forgotten = say(asking, "2024-25", residence=None)
    assert (forgotten["residence"], forgotten["qualifyingIncome"]) == (None, "90000.00")
    # it decides nothing of quarterly updates
    assert updates(asking) == ["overdue", "overdue", "open", "open"]
