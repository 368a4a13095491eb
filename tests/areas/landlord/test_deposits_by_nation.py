"""What the law of each nation asks of a deposit: when it is protected, where, and how much it may be (Domain B4)."""

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import Json, fields_of
from tests.areas.landlord.landlords import Landlord, codes

DPS = {"amount": "900.00", "scheme": "dps"}


def let(landlord: Landlord, jurisdiction: str, deposit: Json, **fields: object) -> Json:
    """A tenancy for 950.00 a month from Monday 1 June 2026, of the type that the nation has."""
    return landlord.let(landlord.house(jurisdiction=jurisdiction), deposit=deposit, **fields)


def of_deposit(tenancy: Json) -> list[str]:
    return [code for code in codes(tenancy) if code.startswith("deposit")]


@pytest.mark.parametrize(
    ("jurisdiction", "scheme", "in_time", "late", "words"),
    [
        ("england", "dps", "2026-07-01", "2026-07-02", "one to three times the deposit (Housing Act 2004 s214)"),
        ("wales", "tds", "2026-07-01", "2026-07-02", "one to three times the deposit (Renting Homes (Wales) Act 2016"),
        ("scotland", "lps_scotland", "2026-07-13", "2026-07-14", "up to three times the deposit"),
        ("northern_ireland", "tdsni", "2026-06-29", "2026-06-30", "offence"),
    ],
)
def test_a_deposit_that_was_protected_late_is_told_with_what_follows(
    landlord: Landlord, jurisdiction: str, scheme: str, in_time: str, late: str, words: str
) -> None:
    """30 days from 1 June are up on 1 July, 28 on 29 June; 30 working days, six weeks of Mondays, on 13 July."""
    deposit = {"amount": "900.00", "scheme": scheme, "protectedDate": in_time}
    tenancy = let(landlord, jurisdiction, deposit)
    assert of_deposit(tenancy) == []
    changed = landlord.change(tenancy, deposit={**deposit, "protectedDate": late})
    assert of_deposit(changed) == ["deposit_protected_late"]
    assert words in changed["warnings"][0]["message"]
    returned = {"returnedAmount": "900.00", "returnedDate": "2026-11-01"}
    assert of_deposit(landlord.change(tenancy, deposit={**deposit, "protectedDate": late, **returned})) == [
        "deposit_protected_late"
    ]


def test_the_days_count_from_the_receipt(landlord: Landlord) -> None:
    """Received on 20 May, 30 days are up on 19 June; received on 15 July, 30 working days in Scotland on 26 August."""
    early = {**DPS, "receivedDate": "2026-05-20", "protectedDate": "2026-06-20"}
    tenancy = let(landlord, "england", early)
    assert (tenancy["deposit"]["receivedDate"], of_deposit(tenancy)) == ("2026-05-20", ["deposit_protected_late"])
    assert of_deposit(landlord.change(tenancy, deposit={**early, "protectedDate": "2026-06-19"})) == []
    later = {"amount": "900.00", "scheme": "lps_scotland", "receivedDate": "2026-07-15", "protectedDate": "2026-08-26"}
    scottish = let(landlord, "scotland", later)
    assert of_deposit(scottish) == []
    changed = landlord.change(scottish, deposit={**later, "protectedDate": "2026-08-27"})
    assert of_deposit(changed) == ["deposit_protected_late"]


@pytest.mark.parametrize(
    ("jurisdiction", "most", "more", "words"),
    [
        ("scotland", "1900.00", "1900.01", "1900.00 at most, two months"),
        ("northern_ireland", "950.00", "950.01", "950.00 at most, one month"),
        ("england", "1096.15", "1096.16", "1096.15 at most, 5 weeks"),  # 11,400 x 5 / 52
    ],
)
def test_each_nation_has_its_cap(landlord: Landlord, jurisdiction: str, most: str, more: str, words: str) -> None:
    own = {"scotland": "lps_scotland", "northern_ireland": "tdsni", "england": "dps"}[jurisdiction]
    deposit = {"amount": most, "scheme": own, "protectedDate": "2026-06-10"}
    tenancy = let(landlord, jurisdiction, deposit)
    assert of_deposit(tenancy) == []
    changed = landlord.change(tenancy, deposit={**deposit, "amount": more})
    assert of_deposit(changed) == ["deposit_cap"]
    assert words in changed["warnings"][0]["message"]


def test_wales_has_no_cap_and_northern_ireland_none_before_2023(landlord: Landlord) -> None:
    deposit = {"amount": "5000.00", "protectedDate": "2026-06-10"}
    assert of_deposit(let(landlord, "wales", {**deposit, "scheme": "dps"})) == []
    before = {"amount": "5000.00", "scheme": "tdsni", "protectedDate": "2023-03-01"}
    assert of_deposit(let(landlord, "northern_ireland", before, startDate="2023-03-01")) == []


@pytest.mark.parametrize(
    ("jurisdiction", "scheme", "found"),
    [
        ("scotland", "dps", ["deposit_scheme_elsewhere"]),
        ("northern_ireland", "lps_scotland", ["deposit_scheme_elsewhere"]),
        ("england", "tdsni", ["deposit_scheme_elsewhere"]),
        ("wales", "safedeposits_scotland", ["deposit_scheme_elsewhere"]),
        ("scotland", "mydeposits", []),
    ],
)
def test_a_scheme_of_another_nation_is_told(
    landlord: Landlord, jurisdiction: str, scheme: str, found: list[str]
) -> None:
    deposit = {"amount": "900.00", "scheme": scheme, "protectedDate": "2026-06-10"}
    assert of_deposit(let(landlord, jurisdiction, deposit)) == found


def test_northern_ireland_tells_by_when_the_tenant_is_told(landlord: Landlord) -> None:
    """28 days from 1 June are up on 29 June, and 35 on 6 July."""
    tenancy = let(landlord, "northern_ireland", {"amount": "900.00", "scheme": "tdsni"})
    assert of_deposit(tenancy) == ["deposit_unprotected"]
    assert "by 2026-06-29" in tenancy["warnings"][0]["message"]
    assert "by 2026-07-06" in tenancy["warnings"][0]["message"]


@pytest.mark.parametrize("by_name", [False, True])
def test_a_receipt_to_come_is_refused(landlord: Landlord, *, by_name: bool) -> None:
    fields: Json = {"deposit": {**DPS, "receivedDate": "2026-11-21"}}
    if by_name:
        fields = {"depositAmount": "900.00", "depositReceivedDate": "2026-11-21"}
    with pytest.raises(Problem) as caught:
        landlord.let(**fields)
    path = "depositReceivedDate" if by_name else "deposit.receivedDate"
    assert fields_of(caught.value) == [(path, "out_of_range")]
