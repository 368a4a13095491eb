"""What the law of each nation asks of a notice: kind, grounds, shortest time; worked by hand from the statutes.

It is 20 November 2026, and tenancies are from 1 June 2026 but where it says another day (Domain B4).
"""

import datetime

import pytest

from gatewayd.areas.landlord.tenancies import notice_law
from gatewayd.areas.landlord.tenancies.notice_law import Span
from tests.areas.accounting.books import Json
from tests.areas.landlord.landlords import Landlord, codes
from tests.areas.landlord.test_tenancy_states import Agreed, row_of
from tests.areas.landlord.test_updating_tenancies import refused

_OF_LAW = ("notice_kind", "notice_ground", "notice_too", "notice_by")


def noticed(landlord: Landlord, nation: str, start: str, /, served: str, expiry: str, **notice: object) -> Json:
    """A tenancy of the type that the nation has, or that `type` says, with a notice."""
    named = {"type": notice.pop("type")} if "type" in notice else {}
    named |= {"rentFrequency": notice.pop("rentFrequency")} if "rentFrequency" in notice else {}
    tenancy = landlord.let(landlord.house(jurisdiction=nation), startDate=start, **named)
    return landlord.change(tenancy, noticeServedDate=served, noticeExpiryDate=expiry, **notice)


def of_law(tenancy: Json) -> list[str]:
    return [code for code in codes(tenancy) if code.startswith(_OF_LAW)]


def eve(day: str) -> str:
    return (datetime.date.fromisoformat(day) - datetime.timedelta(days=1)).isoformat()


S8, S21, S173, LEAVE, QUIT = "section_8", "section_21", "section_173", "notice_to_leave", "notice_to_quit"

IN_TIME = [
    # England, section 8 as it was: s8(4B) two weeks, s8(4A) two months, s8(4) at once
    ("england", "2025-01-01", "2026-04-30", "2026-05-14", S8, ["8"], "14 days"),
    ("england", "2025-01-01", "2026-04-30", "2026-05-14", S8, ["8", "10", "11"], "14 days"),
    ("england", "2025-01-01", "2026-04-01", "2026-06-01", S8, ["1"], "2 months"),
    ("england", "2025-01-01", "2026-04-01", "2026-06-01", S8, ["8", "9"], "2 months"),
    # section 21(4): two months
    ("england", "2025-01-01", "2026-04-30", "2026-06-30", S21, [], "2 months"),
    ("england", "2025-01-01", "2025-12-31", "2026-02-28", S21, [], "2 months"),
    # section 8 since 1 May 2026
    ("england", "2025-01-01", "2026-05-01", "2026-05-29", S8, ["8"], "28 days"),
    ("england", "2025-01-01", "2026-06-10", "2026-10-10", S8, ["1"], "4 months"),
    ("england", "2025-01-01", "2026-06-10", "2026-10-10", S8, ["1A"], "4 months"),
    ("england", "2025-01-01", "2026-06-10", "2026-10-10", S8, ["8", "1A"], "4 months"),
    ("england", "2025-01-01", "2026-10-31", "2027-02-28", S8, ["6"], "4 months"),
    ("england", "2025-01-01", "2026-06-10", "2026-08-10", S8, ["5A"], "2 months"),
    ("england", "2025-01-01", "2026-06-10", "2026-06-24", S8, ["12"], "14 days"),
    ("england", "2025-01-01", "2026-06-10", "2026-06-24", S8, ["4"], "14 days"),
    # Wales: s174 six months, converted ones two until 31 May 2023; s159 a month, s182 14 days, s195 six months
    ("wales", "2026-01-01", "2026-07-01", "2027-01-01", S173, [], "6 months"),
    ("wales", "2022-06-01", "2023-05-31", "2023-07-31", S173, [], "2 months"),
    ("wales", "2022-06-01", "2023-06-01", "2023-12-01", S173, [], "6 months"),
    ("wales", "2026-06-01", "2026-11-02", "2026-12-02", "possession_notice", ["breach"], "a month"),
    ("wales", "2026-06-01", "2026-11-02", "2026-11-16", "possession_notice", ["serious_arrears"], "14 days"),
    ("wales", "2026-06-01", "2026-11-02", "2026-12-02", "possession_notice", ["estate_management"], "a month"),
    ("wales", "2024-01-01", "2026-01-10", "2026-07-10", "section_194", [], "6 months"),
    ("wales", "2022-01-01", "2023-01-10", "2023-03-10", "section_194", [], "2 months"),
    ("wales", "2022-01-01", "2023-01-10", "2023-03-10", "section_186", [], "2 months"),
    # Scotland, s54: 28 days up to six months, then 84, but for conduct
    ("scotland", "2026-01-01", "2026-07-01", "2026-07-29", LEAVE, ["1"], "28 days"),
    ("scotland", "2026-01-01", "2026-07-02", "2026-09-24", LEAVE, ["1"], "84 days"),
    ("scotland", "2026-01-01", "2026-09-01", "2026-09-29", LEAVE, ["12"], "28 days"),
    ("scotland", "2026-01-01", "2026-09-01", "2026-11-24", LEAVE, ["12", "4"], "84 days"),
    ("scotland", "2023-01-01", "2024-03-31", "2024-04-28", LEAVE, ["12A"], "28 days"),
    # Northern Ireland, art 14: 4 weeks up to 12 months, 8 up to 10 years, then 12
    ("northern_ireland", "2026-01-01", "2027-01-01", "2027-01-29", QUIT, [], "28 days"),
    ("northern_ireland", "2026-01-01", "2027-01-02", "2027-02-27", QUIT, [], "56 days"),
    ("northern_ireland", "2016-01-01", "2026-01-01", "2026-02-26", QUIT, [], "56 days"),
    ("northern_ireland", "2016-01-01", "2026-01-02", "2026-03-27", QUIT, [], "84 days"),
]


@pytest.mark.parametrize(("nation", "start", "served", "first", "kind", "grounds", "span"), IN_TIME)
def test_a_notice_of_a_day_less_than_the_law_asks_for_is_told(
    landlord: Landlord, nation: str, start: str, served: str, first: str, kind: str, grounds: list[str], span: str
) -> None:
    landlord.at(served)
    given = {"noticeKind": kind, "noticeGrounds": grounds}
    given |= {"noticeBy": "landlord"} if kind == QUIT else {}  # the others say it by themselves
    enough = noticed(landlord, nation, start, served=served, expiry=first, **given)
    assert (of_law(enough), enough["noticeBy"]) == ([], "landlord")
    short = landlord.change(enough, noticeExpiryDate=eve(first))
    assert of_law(short) == ["notice_too_short"]
    [message] = [one["message"] for one in short["warnings"] if one["code"] == "notice_too_short"]
    assert span in message
    assert f"served on {served} it expires on {first} at the earliest" in message
    assert of_law(landlord.change(enough, noticeExpiryDate=first)) == []


TENANTS = [
    # Protection from Eviction Act 1977 s5(1ZA): two months since 1 May 2026; before, four weeks and a rent period
    ("england", "2025-01-01", "2026-05-01", "2026-07-01", {}),
    ("england", "2025-01-01", "2026-04-30", "2026-05-30", {}),
    ("england", "2025-01-01", "2026-02-01", "2026-03-01", {}),
    ("england", "2025-01-01", "2026-04-01", "2026-04-29", {"rentFrequency": "weekly"}),
    # Renting Homes (Wales) Act 2016 s164: four weeks
    ("wales", "2026-01-01", "2026-11-02", "2026-11-30", {}),
    # 2016 Act s49(3): begins on 1 June, ends 28 days after it begins, on 29 June; the tenancy ends after that day
    ("scotland", "2026-01-01", "2026-06-01", "2026-06-30", {}),
    # 2006 Order art 14: 4 weeks, 12 after 10 years
    ("northern_ireland", "2016-01-01", "2026-01-01", "2026-01-29", {}),
    ("northern_ireland", "2016-01-01", "2026-01-02", "2026-03-27", {}),
    # common law: a period of the rent, half a year of a yearly one; four weeks of a dwelling that is let
    ("england", "2025-01-01", "2026-06-01", "2026-06-08", {"type": "lodger", "rentFrequency": "weekly"}),
    ("england", "2025-01-01", "2026-06-01", "2026-06-29", {"type": "company_let", "rentFrequency": "weekly"}),
    ("england", "2025-01-01", "2026-06-01", "2026-09-01", {"type": "company_let", "rentFrequency": "quarterly"}),
    ("england", "2025-01-01", "2026-06-01", "2026-12-01", {"type": "other", "rentFrequency": "annually"}),
    ("england", "1985-01-01", "2026-06-01", "2026-07-01", {"type": "regulated"}),
]


@pytest.mark.parametrize(("nation", "start", "served", "first", "terms"), TENANTS)
def test_so_is_a_tenants_own(
    landlord: Landlord, nation: str, start: str, served: str, first: str, terms: dict[str, object]
) -> None:
    landlord.at(served)
    enough = noticed(landlord, nation, start, served=served, expiry=first, noticeKind="tenant_notice", **terms)
    assert (of_law(enough), enough["noticeBy"], enough["endDate"]) == ([], "tenant", first)
    short = landlord.change(enough, noticeExpiryDate=eve(first))
    assert (of_law(short), short["endDate"]) == (["notice_too_short"], eve(first))


@pytest.mark.parametrize(("type_", "first"), [("lodger", "2026-12-01"), ("company_let", "2026-12-01")])
def test_a_contract_alone_ends_by_a_notice_of_a_period(landlord: Landlord, type_: str, first: str) -> None:
    fields = {"noticeBy": "landlord", "noticeKind": QUIT, "type": type_}
    found = noticed(landlord, "england", "2026-06-01", served="2026-11-01", expiry=first, **fields)
    assert (of_law(found), found["endDate"]) == ([], first)
    assert of_law(landlord.change(found, noticeExpiryDate=eve(first))) == ["notice_too_short"]


def test_business_premises_end_by_section_25_or_as_the_lease_says(landlord: Landlord) -> None:
    """Landlord and Tenant Act 1954 s25(2): six months at least."""
    fields = {"noticeKind": "section_25", "type": "commercial_lease"}
    found = noticed(landlord, "england", "2026-01-01", served="2026-11-01", expiry="2027-05-01", **fields)
    assert (of_law(found), found["endDate"]) == ([], "2027-05-01")
    assert of_law(landlord.change(found, noticeExpiryDate="2027-04-30")) == ["notice_too_short"]
    assert of_law(landlord.change(found, noticeKind=QUIT)) == []
    assert of_law(landlord.change(found, noticeKind="tenant_notice", noticeBy="tenant")) == []


@pytest.mark.parametrize("grounds", [["14"], ["7A"], ["14", "12"]])
def test_antisocial_behaviour_needs_no_time(landlord: Landlord, grounds: list[str]) -> None:
    """Housing Act 1988 s8(4): not earlier than the date of the service, whatever is named beside it."""
    given = {"noticeKind": S8, "noticeGrounds": grounds}
    found = noticed(landlord, "england", "2026-06-01", served="2026-11-20", expiry="2026-11-20", **given)
    assert of_law(found) == []
    wales = {"noticeKind": "possession_notice", "noticeGrounds": ["anti_social_behaviour"]}
    assert of_law(noticed(landlord, "wales", "2026-06-01", served="2026-11-20", expiry="2026-11-20", **wales)) == []


# -- kinds and grounds


def test_section_21_is_no_more(landlord: Landlord) -> None:
    landlord.at("2026-05-01")
    found = noticed(landlord, "england", "2025-01-01", served="2026-05-01", expiry="2026-07-01", noticeKind=S21)
    assert of_law(found) == ["notice_kind_unknown"]
    assert "Since 2026-05-01 no notice under section 21" in found["warnings"][0]["message"]
    before = landlord.change(found, noticeServedDate="2026-04-30")
    assert of_law(before) == []


@pytest.mark.parametrize(
    ("nation", "kind", "knows"),
    [
        ("england", S173, "`section_8`"),
        ("england", QUIT, "`section_8`"),
        ("wales", S8, "`possession_notice`"),
        ("scotland", QUIT, "`notice_to_leave`"),
        ("northern_ireland", S8, "`notice_to_quit`"),
    ],
)
def test_a_kind_that_the_law_does_not_know_there_is_told(
    landlord: Landlord, nation: str, kind: str, knows: str
) -> None:
    given = {"noticeBy": "landlord", "noticeKind": kind}
    found = noticed(landlord, nation, "2025-01-01", served="2026-11-01", expiry="2028-01-01", **given)
    assert of_law(found) == ["notice_kind_unknown"]
    assert knows in found["warnings"][0]["message"]


def test_a_landlords_notice_has_a_kind_and_grounds_where_the_law_has_them(landlord: Landlord) -> None:
    named = {"noticeBy": "landlord"}
    found = noticed(landlord, "scotland", "2026-01-01", served="2026-11-01", expiry="2027-11-01", **named)
    assert (found["noticeKind"], found["noticeGrounds"], of_law(found)) == (None, [], ["notice_kind_missing"])
    assert "`notice_to_leave`" in found["warnings"][0]["message"]
    found = landlord.change(found, noticeKind=LEAVE)
    assert of_law(found) == ["notice_ground_missing"]
    found = landlord.change(found, noticeGrounds=["12A"])
    assert of_law(found) == ["notice_ground_unknown"]  # of 28 October 2022 to 31 March 2024
    found = landlord.change(found, noticeGrounds=["12", "11"])
    assert (of_law(found), found["noticeGrounds"]) == ([], ["12", "11"])
    # the tenant's has neither, and whose it is has to be known
    found = landlord.change(found, noticeKind=None, noticeBy="tenant")
    assert (of_law(found), found["noticeGrounds"]) == ([], [])
    assert of_law(landlord.change(found, noticeBy=None)) == ["notice_by_missing"]


@pytest.mark.parametrize(("ground", "served"), [("16", "2026-05-01"), ("3", "2026-05-01"), ("1A", "2026-04-30")])
def test_a_ground_of_another_time_is_told(landlord: Landlord, ground: str, served: str) -> None:
    landlord.at(served)
    given = {"noticeKind": S8, "noticeGrounds": [ground]}
    found = noticed(landlord, "england", "2020-01-01", served=served, expiry="2027-05-01", **given)
    assert of_law(found) == ["notice_ground_unknown"]


EARLY = [
    # grounds 1 and 1A: the day that the notice names is a year after the tenancy began at the earliest; ground 6: half
    ("england", "2026-06-01", "2027-01-01", "2027-06-01", S8, ["1"], "2027-05-31"),
    ("england", "2026-06-01", "2027-01-01", "2027-06-01", S8, ["1A"], "2027-05-31"),
    ("england", "2026-06-01", "2026-06-02", "2026-12-01", S8, ["6"], "2026-11-30"),
]


@pytest.mark.parametrize(("nation", "start", "served", "first", "kind", "grounds", "early"), EARLY)
def test_a_ground_is_not_used_before_its_time(
    landlord: Landlord, nation: str, start: str, served: str, first: str, kind: str, grounds: list[str], early: str
) -> None:
    landlord.at(served)
    given = {"noticeKind": kind, "noticeGrounds": grounds}
    found = noticed(landlord, nation, start, served=served, expiry=first, **given)
    assert of_law(found) == []
    assert of_law(landlord.change(found, noticeExpiryDate=early)) == ["notice_too_early"]


@pytest.mark.parametrize(
    ("nation", "start", "first", "expiry", "kind"),
    [
        ("england", "2025-12-15", "2026-04-15", "2026-06-30", S21),  # s21(4B): not in the first four months
        ("wales", "2026-01-15", "2026-07-15", "2027-02-01", S173),  # s175: six
        ("wales", "2022-09-15", "2023-01-15", "2023-04-15", S173),  # of what was converted four
        ("wales", "2024-01-15", "2025-07-15", "2026-02-01", "section_194"),  # s196: eighteen
    ],
)
def test_some_are_not_served_before_their_time(
    landlord: Landlord, nation: str, start: str, first: str, expiry: str, kind: str
) -> None:
    landlord.at(first)
    found = noticed(landlord, nation, start, served=first, expiry=expiry, noticeKind=kind)
    assert of_law(found) == []
    assert of_law(landlord.change(found, noticeServedDate=eve(first))) == ["notice_too_early"]


def test_of_the_law_of_the_pandemic_nothing_is_said(landlord: Landlord) -> None:
    given = {"noticeKind": S21}
    for served, said in (
        ("2020-03-25", ["notice_too_short"]),
        ("2020-03-26", []),
        ("2021-09-30", []),
        ("2021-10-01", ["notice_too_short"]),
    ):
        landlord.at(served)
        found = noticed(landlord, "england", "2019-01-01", served=served, expiry=served, **given)
        assert of_law(found) == said, served


# -- what contradicts itself


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"noticeBy": "tenant", "noticeKind": S8}, ("noticeKind", "conflict")),
        ({"noticeBy": "landlord", "noticeKind": "tenant_notice"}, ("noticeKind", "conflict")),
        ({"noticeBy": "landlord", "noticeGrounds": ["8"]}, ("noticeGrounds[0]", "conflict")),
        ({"noticeKind": S8, "noticeGrounds": ["8", "8"]}, ("noticeGrounds[1]", "conflict")),
        ({"noticeKind": S8, "noticeGrounds": ["8", "breach"]}, ("noticeGrounds[1]", "conflict")),
        ({"noticeKind": LEAVE, "noticeGrounds": ["7A"]}, ("noticeGrounds[0]", "conflict")),
        ({"noticeKind": S21, "noticeGrounds": ["1"]}, ("noticeGrounds[0]", "conflict")),
    ],
)
def test_what_contradicts_itself_is_refused(
    landlord: Landlord, fields: dict[str, object], wrong: tuple[str, str]
) -> None:
    days = {"noticeServedDate": "2026-11-01", "noticeExpiryDate": "2027-05-01"}
    assert refused(landlord, landlord.let(), **days, **fields) == [wrong]


def test_a_kind_or_a_ground_needs_a_day(landlord: Landlord) -> None:
    tenancy = landlord.let()
    assert refused(landlord, tenancy, noticeKind=S8) == [("noticeServedDate", "required")]
    assert ("noticeServedDate", "required") in refused(landlord, tenancy, noticeGrounds=["8"])


def test_a_notice_is_taken_back_with_its_kind_and_grounds(landlord: Landlord) -> None:
    given = {"noticeKind": S8, "noticeGrounds": ["8"]}
    found = noticed(landlord, "england", "2025-01-01", served="2026-11-01", expiry="2027-05-01", **given)
    # what is said of another kind is of that one
    found = landlord.change(found, noticeKind="tenant_notice", noticeBy="tenant")
    assert (found["noticeGrounds"], found["endDate"]) == ([], "2027-05-01")
    back = landlord.change(found, noticeServedDate=None)
    names = ("noticeServedDate", "noticeBy", "noticeKind", "noticeGrounds", "noticeExpiryDate")
    assert [back[name] for name in names] == [None, None, None, [], None]
    assert (back["status"], of_law(back)) == ("active", [])


# -- what has become of one


def test_what_was_served_before_the_change_of_the_law_is_good_until_the_end_of_july(landlord: Landlord) -> None:
    """Renters' Rights Act 2025 Sch 6; Housing Act 1988 s21(4D) six months, s8(3)(c) twelve."""
    for served, kind, grounds, by in (
        ("2026-04-30", S21, [], "2026-07-31"),
        ("2026-01-10", S21, [], "2026-07-10"),
        ("2026-04-30", S8, ["8"], "2026-07-31"),
        ("2025-06-15", S8, ["8"], "2026-06-15"),
    ):
        agreed = Agreed("assured_shorthold", datetime.date(2024, 1, 1), by="landlord")
        agreed = agreed._replace(served=datetime.date.fromisoformat(served), expiry=datetime.date(2026, 7, 30))
        row = row_of(agreed, kind, grounds)
        assert list(notice_law.warnings(row, "2026-04-30")) == []
        [warning] = notice_law.warnings(row, "2026-05-01")
        assert (warning.code, f"begin by {by} (" in warning.message) == ("notice_proceedings_by", True)
        after = [one.code for one in notice_law.warnings(row, "2026-07-31")]
        assert after == ["notice_proceedings_by", "notice_expired"]


def test_a_later_one_under_section_8_is_good_for_a_year(landlord: Landlord) -> None:
    given = {"noticeKind": S8, "noticeGrounds": ["8"]}
    found = noticed(landlord, "england", "2025-01-01", served="2026-10-01", expiry="2026-11-19", **given)
    assert codes(found) == ["notice_proceedings_by", "notice_expired"]
    assert "have to begin by 2027-10-01 (Housing Act 1988 s8(3)(c))" in found["warnings"][0]["message"]


def test_on_a_notice_that_the_law_does_not_have_nothing_is_said_of_proceedings(landlord: Landlord) -> None:
    """Section 21 of the Housing Act 1988 is gone since 1 May 2026 (Renters' Rights Act 2025 s2)."""
    given = {"noticeKind": "section_21"}
    found = noticed(landlord, "england", "2025-01-01", served="2026-06-01", expiry="2026-08-01", **given)
    assert codes(found) == ["notice_kind_unknown", "notice_expired"]


def test_a_time_ends_with_the_calendar() -> None:
    assert [Span(months=6).after("9999-12-31"), Span(days=28).after("9999-12-31")] == ["9999-12-31"] * 2
