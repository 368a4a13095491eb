"""What miles come to: by the statutes' own figures, and in whichever order journeys are entered."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.areas.accounting.journeys import rates
from gatewayd.areas.accounting.journeys.rates import Miles, Reckoned, Scheme, VehicleKind


def miles(
    id_: str, tenths: int, kind: VehicleKind = "car", scheme: Scheme = "fixed", date: str = "2025-06-01"
) -> Miles:
    rate = rates.rate_on(scheme, kind, date)
    assert rate is not None
    return Miles(id_, rate, kind, tenths, 0)


def pence(found: dict[str, Reckoned]) -> int:
    return sum(each.pence for each in found.values())


def test_eleven_thousand_miles_by_car_come_to_4_750() -> None:
    """GOV.UK, Simplified expenses, Vehicles: 10,000 miles at 45p are 4,500, and 1,000 at 25p are 250."""
    found = rates.reckon([miles("a", 60_000), miles("b", 50_000)])
    assert pence(found) == 475_000
    assert found["b"] == Reckoned(40_000, 4_000 * 45 + 1_000 * 25)


def test_a_car_and_a_van_of_one_trade_share_the_ten_thousand_miles() -> None:
    """ITTOIA 2005 s94F(3): 45p is available in relation to 10,000 of those miles. 4,500 and 2,000 at 25p: 5,000."""
    assert pence(rates.reckon([miles("a", 60_000), miles("b", 60_000, "van")])) == 500_000


def test_a_motorcycle_has_24p_throughout() -> None:
    """ITTOIA 2005 s94F(2): 12,000 miles at 24p are 2,880, and leave the car its 10,000."""
    found = rates.reckon([miles("m", 90_000, "motorcycle"), miles("n", 30_000, "motorcycle"), miles("a", 10)])
    assert pence(found) == 288_000 + 45


def test_an_employee_has_55p_from_april_2026() -> None:
    """ITEPA 2003 s230(2): 4,000 miles in one car and 9,000 in another: 10,000 at 55p, 3,000 at 25p, 6,250 in all."""
    journeys = [miles(id_, tenths, "car", "approved", "2026-04-06") for id_, tenths in (("a", 40_000), ("b", 90_000))]
    assert pence(rates.reckon(journeys)) == 625_000
    eve = [each._replace(rate=miles("x", 1, "car", "approved", "2026-04-05").rate) for each in journeys]
    assert pence(rates.reckon(eve)) == 10_000 * 45 + 3_000 * 25


def test_each_passenger_adds_5p_where_an_employer_pays() -> None:
    """ITEPA 2003 s234: 5p a mile for each. 20 miles with two of them: 20 x 55p and 20 x 10p are 13.00."""
    journey = miles("a", 200, "car", "approved", "2026-05-01")._replace(passengers=2)
    assert pence(rates.reckon([journey])) == 1_300


def test_what_has_no_published_rate() -> None:
    assert rates.rate_on("fixed", "bicycle", "2026-05-01") is None
    assert rates.rate_on("fixed", "car", "2013-04-05") is None
    assert rates.rate_on("approved", "van", "2011-04-05") is None
    bicycle = rates.rate_on("approved", "bicycle", "2011-04-06")
    assert bicycle is not None
    assert (bicycle.full, bicycle.rest) == (20, 20)


def test_pence_are_rounded_over_the_year_and_not_by_journey() -> None:
    """Three times 0.1 mile at 45p is 13.5p: 14p in all, where three roundings of 4.5p would be 15p."""
    found = rates.reckon([miles("a", 1), miles("b", 1), miles("c", 1)])
    assert [each.pence for each in found.values()] == [5, 4, 5]


def test_a_closed_journey_keeps_its_miles_and_pence() -> None:
    """In a closed month 9,000 miles have 45p. An earlier 2,000 that are entered later find 1,000 of them left."""
    kept = miles("b", 90_000)._replace(full_tenths=90_000, pence=405_000)
    found = rates.reckon([miles("a", 20_000), kept])
    assert found == {"a": Reckoned(10_000, 1_000 * 45 + 1_000 * 25)}


_KINDS: st.SearchStrategy[VehicleKind] = st.sampled_from(("car", "van", "motorcycle"))


@given(st.lists(st.tuples(_KINDS, st.integers(1, 40_000)), min_size=1, max_size=12), st.randoms())
def test_the_year_comes_to_the_statutes_sum_in_any_order(drawn: list[tuple[VehicleKind, int]], chance: object) -> None:
    """M x R of section 94F, in fractions of a pound, to the nearest penny; each journey comes to something."""
    journeys = [miles(str(n), tenths, kind) for n, (kind, tenths) in enumerate(drawn)]
    chance.shuffle(journeys)  # type: ignore[attr-defined]
    found = rates.reckon(journeys)
    banded = Fraction(sum(each.tenths for each in journeys if each.kind in rates.BANDED), 10)
    other = Fraction(sum(each.tenths for each in journeys if each.kind == "motorcycle"), 10)
    exact = min(banded, 10_000) * 45 + max(0, banded - 10_000) * 25 + other * 24
    assert pence(found) == (exact + Fraction(1, 2)).__floor__()
    assert all(each.pence > 0 for each in found.values())
    full = sum(found[each.id].full_tenths for each in journeys if each.kind in rates.BANDED)
    assert full == min(banded * 10, rates.FULL_TENTHS)


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 40_000)), min_size=1, max_size=12))
def test_what_is_closed_stays_and_the_rest_makes_up_the_year(drawn: list[tuple[bool, int]]) -> None:
    """Some are closed as they were reckoned; entered anew, the others bring the year to the same sum, to a penny."""
    journeys = [miles(str(n), tenths) for n, (_, tenths) in enumerate(drawn)]
    before = rates.reckon(journeys)
    kept = [
        each._replace(full_tenths=before[each.id].full_tenths, pence=before[each.id].pence) if closed else each
        for each, (closed, _) in zip(journeys, drawn, strict=True)
    ]
    after = rates.reckon(kept)
    assert after.keys() == {each.id for each in kept if each.pence is None}
    together = pence(after) + sum(each.pence or 0 for each in kept)
    if after and all(each.pence > 1 for each in after.values()):  # which have a penny at least
        assert together == pence(before)


@pytest.mark.parametrize("tenths", [1, 9, 99_999])
def test_a_single_journey_is_rounded_half_up(tenths: int) -> None:
    assert pence(rates.reckon([miles("a", tenths)])) == (tenths * 45 + 5) // 10
