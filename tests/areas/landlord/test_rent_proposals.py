"""Rents that bank transactions probably are. The line is of 2 November 2026 unless it says otherwise."""

from typing import Any

import pytest

from gatewayd.areas.banking.proposals import rents
from tests.areas.landlord.lets import AT, step
from tests.areas.landlord.rent_books import RentBooks
from tests.ledger.lets import insert_property
from tests.support.store import MemoryStore


@pytest.fixture
def lets(store: MemoryStore) -> RentBooks:
    return RentBooks(store)


def proposed(lets: RentBooks, amount: int, text: str = "FASTER PAYMENT", **fields: object) -> list[dict[str, Any]]:
    """What is proposed for a line of so many minor units, of rents alone."""
    fields = {"description": text, "match_key": "", **fields}
    line = lets.line(str(fields.pop("account", lets.current)), amount, **fields)
    ((found,), _) = lets.get("listProposals", f"bankTransactionId={line}")
    return [one for one in found["proposals"] if one["kind"] == "rent"]


def fits(lets: RentBooks, amount: int, text: str = "FASTER PAYMENT", **fields: object) -> list[tuple[str, int]]:
    found = proposed(lets, amount, text, **fields)
    return [(one["allocation"]["tenancyId"], one["score"]) for one in found]


def from_november(lets: RentBooks, amount: str = "950.00", **values: object) -> str:
    let = lets.let(step("2026-11-01", amount), **values)
    lets.tenant(let, "Jane", "Smith")
    return let


def test_the_rent_of_the_month_and_who_it_is_from(lets: RentBooks) -> None:
    unit = lets.unit()
    let = from_november(lets, unit_id=unit)
    (proposal,) = proposed(lets, 950_00, "FPI MISS J SMITH RENT")
    reason = "Rent of 12 Oak Street: the amount is the rent due on 1 Nov 2026, Jane Smith is named."
    assert (proposal["kind"], proposal["score"], proposal["reason"]) == ("rent", 93, reason)
    assert proposal["amount"] == "950.00"
    assert proposal["allocation"] == {
        **dict.fromkeys(("purpose", "vatCode", "disallowableAmount", "mortgageId")),
        "category": "periodAmount",
        "businessId": lets.lets,
        "propertyId": lets.house,
        "unitId": unit,
        "tenancyId": let,
        "vatAmount": "0.00",
    }


def test_what_is_proposed_is_taken_as_it_is(lets: RentBooks) -> None:
    let = from_november(lets)
    line = lets.line(lets.current, 950_00, description="J SMITH", match_key="")
    ((found,), _) = lets.get("listProposals", f"bankTransactionId={line}")
    allocation = found["proposals"][0]["allocation"]
    part = {name: value for name, value in allocation.items() if value is not None}
    lets.post("allocate", bankTransactionId=line, parts=[part])
    assert lets.owed(let).arrears == 0
    assert fits(lets, 950_00, "J SMITH") == [(let, 70)]  # nothing is owed any more: a rent ahead


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("JANE SMITH", 93),
        ("SMITH J", 93),
        ("MRS SMITH", 86),
        ("RENT 12 OAK STREET", 86),
        ("12-OAK-STREET SMITH JANE", 93),
        ("FASTER PAYMENT 12 OAK ST", 86),
        ("12OAKSTREET", 86),
        ("112 OAK ST", 58),
        ("12 ELM ST", 58),
        ("SMITHSON J", 58),  # the amount alone
        ("J", 58),
    ],
)
def test_what_is_written_on_the_line(lets: RentBooks, text: str, score: int) -> None:
    assert [found for _, found in fits(lets, 950_00, text)] == []
    from_november(lets)
    assert [found for _, found in fits(lets, 950_00, text)] == [score]


@pytest.mark.parametrize(
    ("amount", "named", "in_part", "alone"),
    [
        (950_00, [93], [86], [58]),  # the rent of the month
        (1900_00, [93], [86], []),  # all that is owed
        (400_00, [74], [60], []),  # a part of it
        (2000_00, [62], [48], []),  # more
    ],
)
def test_what_the_amount_says(
    lets: RentBooks, amount: int, named: list[int], in_part: list[int], alone: list[int]
) -> None:
    """Two months are owed."""
    let = lets.let(step("2026-10-01", "950.00"))
    lets.tenant(let, "Jane", "Smith")
    for text, scores in (("J SMITH", named), ("SMITH", in_part), ("RENT", alone)):
        assert [score for _, score in fits(lets, amount, text)] == scores


def test_where_nothing_is_owed(lets: RentBooks) -> None:
    let = from_november(lets)
    lets.paid(let, "950.00", date="2026-11-01")
    found = {text: fits(lets, 950_00, text) for text in ("J SMITH", "SMITH", "RENT")}
    assert found == {"J SMITH": [(let, 70)], "SMITH": [(let, 58)], "RENT": [(let, 30)]}
    assert (fits(lets, 100_00, "J SMITH"), fits(lets, 100_00, "SMITH")) == ([(let, 40)], [])


@pytest.mark.parametrize(
    ("date", "score"),
    [("2026-10-24", 70), ("2026-10-25", 93), ("2026-11-15", 93), ("2026-11-16", 85)],
)
def test_how_near_the_due_date_is(lets: RentBooks, date: str, score: int) -> None:
    """Seven days before it the rent is expected already; before that it is one ahead."""
    let = from_november(lets)
    assert fits(lets, 950_00, "J SMITH", date=date) == [(let, score)]


def test_the_parts_of_periods_are_known_by_their_amounts(lets: RentBooks) -> None:
    """17 days of January are 520.97, 10 days of April 316.67."""
    let = lets.let(step("2026-01-15", "950.00"), end_date="2026-04-10")
    assert fits(lets, 520_97, date="2026-01-16") == [(let, 58)]
    for day, amount in (("2026-01-16", "520.97"), ("2026-02-01", "950.00"), ("2026-03-01", "950.00")):
        lets.paid(let, amount, date=day)
    assert fits(lets, 316_67, date="2026-04-02") == [(let, 58)]


def test_a_rent_after_it_was_raised(lets: RentBooks) -> None:
    let = lets.let(step("2026-10-01", "950.00"), step("2026-11-01", "980.00"))
    lets.paid(let, "950.00", date="2026-10-01")
    assert fits(lets, 980_00) == [(let, 58)]
    lets.tenant(let, "Jane", "Smith")
    assert fits(lets, 950_00, "J SMITH") == [(let, 74)]  # who still pays the old one


def test_a_rent_that_came_earlier_does_not_hide_the_one_of_an_older_statement(lets: RentBooks) -> None:
    let = lets.let(step("2026-09-01", "950.00"))
    lets.paid(let, "950.00", date="2026-11-01")
    assert fits(lets, 950_00, date="2026-09-02") == [(let, 58)]


def test_several_tenancies_of_one_rent(lets: RentBooks) -> None:
    one, two = from_november(lets), lets.let(step("2026-11-01", "950.00"))
    assert sorted(fits(lets, 950_00)) == sorted([(one, 33), (two, 33)])
    assert fits(lets, 950_00, "J SMITH") == [(one, 93), (two, 58)]
    for _ in range(5):
        lets.let(step("2026-11-01", "950.00"))
    assert fits(lets, 950_00) == []
    assert fits(lets, 950_00, "J SMITH") == [(one, 93)]


def test_the_property_may_be_all_that_is_known(lets: RentBooks) -> None:
    """Of several who live there, and none of whom is named, the address tells less."""
    let = lets.let(step("2026-11-01", "950.00"))
    assert fits(lets, 400_00, "12 OAK ST") == [(let, 60)]
    other = lets.let(step("2026-11-01", "700.00"))
    assert sorted(fits(lets, 400_00, "12 OAK ST")) == sorted([(let, 35), (other, 35)])
    assert fits(lets, 400_00, "12 ELM ST") == []


def test_a_name_that_too_many_have(lets: RentBooks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rents, "MOST_LOOKED_AT", 2)
    for _ in range(2):
        from_november(lets)
    assert len(fits(lets, 100_00, "J SMITH")) == 2
    from_november(lets)
    assert fits(lets, 100_00, "J SMITH") == []


def test_names_of_companies_joint_tenants_and_short_ones(lets: RentBooks) -> None:
    company = lets.let(step("2026-11-01", "700.00"))
    lets.tenant(company, None, None, "Harbour Joiners Ltd")
    joint = lets.let(step("2026-11-01", "800.00"))
    lets.tenant(joint, "Ada", "Brown")
    lets.tenant(joint, "Bo", "Ng")
    lets.tenant(joint, None, None)  # was erased
    double = lets.let(step("2026-11-01", "900.00"))
    lets.tenant(double, "Ana", "de Souza-Lima")
    assert fits(lets, 100_00, "HARBOUR JOINERS LIMITED") == [(company, 74)]
    assert fits(lets, 100_00, "HARBOUR MASTER") == []
    assert fits(lets, 100_00, "A BROWN") == [(joint, 74)]
    assert fits(lets, 100_00, "B NG") == []  # two letters stand in too many texts
    assert fits(lets, 100_00, "ANA DE SOUZA LIMA") == [(double, 74)]
    assert fits(lets, 100_00, "ANA SOUZA") == []


def test_what_is_not_proposed(lets: RentBooks, store: MemoryStore) -> None:
    let = from_november(lets)
    elsewhere = lets.account(lets.unregistered_entity(name="Elm"))
    in_euros = lets.account(lets.owner, currency="EUR")
    assert fits(lets, 950_00, account=lets.account()) == [(let, 58)]  # it names nobody
    assert fits(lets, 950_00, account=elsewhere) == []
    assert fits(lets, 950_00, "J SMITH", account=in_euros, currency="EUR") == []
    assert fits(lets, -950_00, "J SMITH") == []
    assert fits(RentBooks(store, "Other Ltd"), 950_00, "J SMITH") == []
    assert fits(lets, 950_00, "J SMITH", date="2026-08-30") == []  # 63 days before it begins


def test_a_tenancy_that_is_over_or_called_off(lets: RentBooks) -> None:
    ended = lets.let(step("2025-01-01", "700.00"), end_date="2025-10-31")
    lets.tenant(ended, "Jane", "Smith")
    assert fits(lets, 7000_00, "J SMITH", date="2026-11-01") == [(ended, 93)]  # ten months
    assert fits(lets, 7000_00, "J SMITH", date="2026-11-02") == []  # more than a year after it
    lets.let(step("2026-11-01", "800.00"), cancelled_at=AT)
    assert fits(lets, 800_00) == []


@pytest.mark.parametrize("table", ["properties", "businesses"])
def test_what_is_archived(lets: RentBooks, table: str) -> None:
    from_november(lets)
    status = ", status = 'archived'" if table == "properties" else ""
    lets.write(lambda tx: tx.run(f"UPDATE {table} SET archived_at = :now{status} WHERE org_id = :org_id"))
    assert fits(lets, 950_00, "J SMITH") == []


def test_the_line_of_a_rent_is_that_of_the_business(lets: RentBooks) -> None:
    company = lets.business_of("company_trade")
    shop = lets.write(lambda tx: insert_property(tx, company, use="commercial_let"))
    from_november(lets, property_id=shop)
    (proposal,) = proposed(lets, 950_00)
    assert (proposal["allocation"]["category"], proposal["allocation"]["businessId"]) == ("turnover", company)


def test_no_more_tenancies_are_looked_at_than_are_worth_it(lets: RentBooks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rents, "RUNNING", 2)
    monkeypatch.setattr(rents, "ENDED", 1)
    running = [from_november(lets, f"{700 + place}.00") for place in range(3)]
    ended = [from_november(lets, f"{800 + place}.00", end_date=f"2026-11-{20 + place}") for place in range(2)]
    found = [fits(lets, amount * 100, "J SMITH") for amount in (700, 701, 702)]
    assert [[let for let, score in one if score >= 85] for one in found] == [[], [running[1]], [running[2]]]
    assert {let for let, _ in fits(lets, 100_00, "J SMITH")} == {*running[1:], ended[1]}
