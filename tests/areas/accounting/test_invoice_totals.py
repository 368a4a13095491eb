"""Invoice totals: the vectors of domain model C4, and what holds for every invoice."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.areas.accounting.invoices.totals import (
    AmountsAre,
    LineInput,
    Terms,
    Totals,
    VatRounding,
    compute,
    convert,
    fits,
    spread,
)
from gatewayd.errors import Problem
from gatewayd.ledger.vat.sellers import CisRate
from gatewayd.ledger.vat.vat_rates import VatCode


def line(price: str, rate: str = "20", quantity: str = "1", discount: str = "0", **more: object) -> LineInput:
    code: VatCode = {"20": "standard", "5": "reduced", "0": "zero"}.get(rate, "standard")
    values = {"vat_code": code, "reverse_charge": False, "cis_labour": False, **more}
    return LineInput(
        quantity=Decimal(quantity),
        unit_price=Decimal(price),
        discount_percent=Decimal(discount),
        rate_percent=Decimal(rate),
        **values,
    )


def totals(
    *lines: LineInput,
    amounts_are: AmountsAre = "exclusive",
    rounding: VatRounding = "line",
    exponent: int = 2,
    discount: int = 0,
    cis_rate: CisRate | None = None,
) -> Totals:
    return compute(lines, Terms(amounts_are, rounding, exponent, discount, cis_rate))


def figures(found: Totals) -> tuple[int, int, int]:
    return found.net, found.vat, found.gross


def test_t_vat_1_line_rounding() -> None:
    assert figures(totals(*[line("1.11")] * 3)) == (333, 66, 399)


def test_t_vat_2_total_rounding() -> None:
    found = totals(*[line("1.11")] * 3, rounding="total")
    assert figures(found) == (333, 67, 400)
    assert [each.vat for each in found.lines] == [23, 22, 22]


def test_t_vat_3_half_up() -> None:
    assert figures(totals(line("704.88"))) == (70488, 14098, 84586)


def test_t_vat_4_round_down() -> None:
    assert figures(totals(line("704.88"), rounding="total_down")) == (70488, 14097, 84585)


def test_t_vat_5_mixed_rates() -> None:
    found = totals(
        line("85.00", quantity="7.5"),
        line("49.99", "5", quantity="2"),
        line("12.35", "0", quantity="3"),
        line("9.95", quantity="10", discount="10"),
    )
    assert figures(found) == (86408, 15041, 101449)
    assert [each.net for each in found.lines] == [63750, 9998, 3705, 8955]
    assert [each.vat for each in found.lines] == [12750, 500, 0, 1791]
    assert found.discount == 995
    assert [(group.vat_code, group.net, group.vat) for group in found.vat_summary] == [
        ("standard", 72705, 14541),
        ("reduced", 9998, 500),
        ("zero", 3705, 0),
    ]


def test_t_vat_6_inclusive_at_20() -> None:
    assert figures(totals(line("100.00"), amounts_are="inclusive")) == (8333, 1667, 10000)


def test_t_vat_7_inclusive_at_5() -> None:
    assert figures(totals(line("105.00", "5"), amounts_are="inclusive")) == (10000, 500, 10500)


def test_t_vat_9_reverse_charge() -> None:
    code = "reverse_charge_domestic_standard"
    found = totals(line("5000", vat_code=code, reverse_charge=True), line("120.00"))
    assert figures(found) == (512000, 2400, 514400)
    assert found.reverse_charge_vat == 100000
    assert [(group.vat, group.reverse_charge) for group in found.vat_summary] == [(100000, True), (2400, False)]


def test_no_vat_ignores_rates() -> None:
    assert figures(totals(line("100.00"), amounts_are="no_vat")) == (10000, 0, 10000)


def test_a_reverse_charged_price_holds_no_vat_when_inclusive() -> None:
    found = totals(line("120.00", reverse_charge=True), amounts_are="inclusive")
    assert (figures(found), found.reverse_charge_vat) == ((12000, 0, 12000), 2400)


def test_invoice_discount_is_spread_by_net_and_the_largest_remainder_takes_the_penny() -> None:
    found = totals(line("1.00", "0"), line("1.00", "0"), line("1.00", "0"), discount=100)
    assert [each.net for each in found.lines] == [66, 67, 67]
    assert found.discount == 100


def test_cis_deduction_is_on_the_net_of_labour_alone() -> None:
    found = totals(line("100.10", cis_labour=True), line("50.00"), cis_rate=20)
    assert (found.cis_deduction, found.cis_rate, found.vat) == (2002, 20, 3002)


def test_no_cis_rate_without_labour() -> None:
    assert totals(line("100.00"), cis_rate=20).cis_rate is None
    assert totals(line("100.00", cis_labour=True)).cis_deduction == 0


def test_yen_and_dinar_round_to_their_own_minor_units() -> None:
    assert figures(totals(line("100.5"), exponent=0)) == (101, 20, 121)
    assert figures(totals(line("1.0005"), exponent=3)) == (1001, 200, 1201)


@pytest.mark.parametrize("quantity", ["9999999999999", "-9999999999999"])
def test_a_line_beyond_13_whole_digits_is_refused(quantity: str) -> None:
    with pytest.raises(Problem) as caught:
        totals(line("1"), line("9999999999999.9999", quantity=quantity))
    assert [(error.path, error.code) for error in caught.value.errors] == [("lines[1].unitPrice", "out_of_range")]


@pytest.mark.parametrize(
    ("amount", "exponent", "expected"),
    [
        (10**13 - 1, 0, True),
        (10**13, 0, False),
        (10**15 - 1, 2, True),
        (10**15, 2, False),
        (-(10**15) + 1, 2, True),
        (-(10**15), 2, False),
        (10**16 - 1, 3, True),
        (10**16, 3, False),
    ],
)
def test_an_amount_fits_below_ten_to_the_13th(amount: int, exponent: int, expected: bool) -> None:
    assert fits(amount, exponent) is expected


@pytest.mark.parametrize("price", ["5000000000000", "-5000000000000"])
def test_a_line_of_exactly_ten_to_the_13th_is_refused(price: str) -> None:
    most = line("9999999999999.99", "0")
    assert totals(most).gross == 10**15 - 1
    with pytest.raises(Problem) as caught:
        totals(most, line(price, "0", quantity="2"), amounts_are="no_vat")
    assert [(error.path, error.code) for error in caught.value.errors] == [("lines[1].unitPrice", "out_of_range")]


@pytest.mark.parametrize(
    "lines",
    [
        [line("5000000000000", "0")] * 2,
        [line("6000000000000", "0"), line("6000000000000", "5")] + [line("-5000000000000", "20")] * 2,
    ],
)
def test_a_part_of_exactly_ten_to_the_13th_is_refused(lines: list[LineInput]) -> None:
    """The sum, and a group of the VAT summary that is below zero."""
    with pytest.raises(Problem) as caught:
        totals(*lines, amounts_are="no_vat")
    (error,) = caught.value.errors
    assert (error.path, error.message) == ("lines", "The lines come to more than 13 whole digits.")


def test_a_sum_beyond_13_whole_digits_is_refused() -> None:
    with pytest.raises(Problem) as caught:
        totals(*[line("6000000000000", "0")] * 2)
    assert [(error.path, error.code) for error in caught.value.errors] == [("lines", "out_of_range")]


@pytest.mark.parametrize(
    "lines",
    [
        [line("9999999999999", quantity="9999999999999", discount="100")],
        [line("6000000000000", "0")] * 2 + [line("-6000000000000", "20")] * 2,
        [line("9000000000000", "0", cis_labour=True)] * 5 + [line("-9000000000000", "0")] * 5,
    ],
)
def test_a_part_beyond_13_whole_digits_is_refused_though_the_sum_fits(lines: list[LineInput]) -> None:
    with pytest.raises(Problem) as caught:
        totals(*lines, amounts_are="no_vat", cis_rate=30)
    assert [(error.path, error.code) for error in caught.value.errors] == [("lines", "out_of_range")]


def test_a_total_below_zero_is_refused() -> None:
    with pytest.raises(Problem) as caught:
        totals(line("1"), line("-1.01"))
    assert [(error.path, error.code) for error in caught.value.errors] == [("lines", "out_of_range")]


def test_a_discount_above_the_lines_is_refused() -> None:
    assert figures(totals(line("1"), discount=100)) == (0, 0, 0)
    with pytest.raises(Problem) as caught:
        totals(line("1"), discount=101)
    assert [(error.path, error.code) for error in caught.value.errors] == [("discountAmount", "out_of_range")]


def test_convert_rounds_half_up_between_exponents() -> None:
    assert convert(2400, Decimal("0.85"), 2, 2) == 2040
    assert convert(101, Decimal("0.00525"), 0, 2) == 53
    assert convert(-5, Decimal("0.5"), 2, 2) == -3


decimals = st.decimals(min_value=0, max_value=9999, places=4, allow_nan=False)
lines_of_any_kind = st.builds(
    LineInput,
    quantity=decimals,
    unit_price=decimals,
    discount_percent=st.decimals(min_value=0, max_value=100, places=2),
    vat_code=st.sampled_from(["standard", "reduced", "zero"]),
    rate_percent=st.sampled_from([Decimal(20), Decimal("17.5"), Decimal(5), Decimal(0)]),
    reverse_charge=st.booleans(),
    cis_labour=st.booleans(),
)
terms = st.builds(
    Terms,
    amounts_are=st.sampled_from(["exclusive", "inclusive", "no_vat"]),
    vat_rounding=st.sampled_from(["line", "total", "total_down"]),
    exponent=st.sampled_from([0, 2, 3]),
    discount=st.just(0),
    cis_rate=st.sampled_from([None, 0, 20, 30]),
)


@given(st.lists(lines_of_any_kind, min_size=1, max_size=8), terms)
def test_sums_hold_for_every_invoice(lines: list[LineInput], how: Terms) -> None:
    found = compute(lines, how)
    assert found.gross == found.net + found.vat
    for each in found.lines:
        assert each.gross == each.net + each.vat
        assert not (each.vat and each.reverse_charge_vat)
    for name in ("net", "vat", "gross", "reverse_charge_vat"):
        assert getattr(found, name) == sum(getattr(each, name) for each in found.lines)
    assert found.net == sum(group.net for group in found.vat_summary)
    assert found.vat + found.reverse_charge_vat == sum(group.vat for group in found.vat_summary)
    assert 0 <= found.cis_deduction <= max(0, found.net)


@given(st.lists(lines_of_any_kind, min_size=1, max_size=8), terms)
def test_gross_is_exact_when_prices_are_inclusive(lines: list[LineInput], how: Terms) -> None:
    inclusive = compute(lines, how._replace(amounts_are="inclusive"))
    without = compute(lines, how._replace(amounts_are="no_vat"))
    assert inclusive.gross == without.gross


@given(st.lists(lines_of_any_kind, min_size=1, max_size=8), terms)
def test_vat_of_a_group_is_rounded_once_in_total_mode(lines: list[LineInput], how: Terms) -> None:
    found = compute(lines, how._replace(amounts_are="exclusive", vat_rounding="total"))
    groups: dict[tuple[str, Decimal, bool], Fraction] = {}
    for each, total in zip(lines, found.lines, strict=True):
        key = (each.vat_code, each.rate_percent, each.reverse_charge)
        groups[key] = groups.get(key, Fraction(0)) + total.net * Fraction(each.rate_percent) / 100
        exact = total.net * Fraction(each.rate_percent) / 100
        assert abs(total.vat + total.reverse_charge_vat - exact) < 1
    for group in found.vat_summary:
        assert abs(group.vat - groups[group.vat_code, group.rate_percent, group.reverse_charge]) <= Fraction(1, 2)


@given(st.lists(lines_of_any_kind, min_size=1, max_size=8), terms, st.data())
def test_a_discount_is_taken_to_the_penny(lines: list[LineInput], how: Terms, data: st.DataObject) -> None:
    before = compute(lines, how._replace(amounts_are="no_vat"))
    discount = data.draw(st.integers(min_value=0, max_value=before.net))
    after = compute(lines, how._replace(amounts_are="no_vat", discount=discount))
    assert after.net == before.net - discount
    assert after.discount == before.discount + discount
    assert all(each.net >= 0 for each in after.lines)


@pytest.mark.parametrize(
    ("amount", "weights", "parts"), [(7, [0, 1, 0], [0, 7, 0]), (0, [0, 0], [0, 0]), (7, [0, 0], [0, 0]), (7, [], [])]
)
def test_spread_over_little_or_nothing(amount: int, weights: list[int], parts: list[int]) -> None:
    assert spread(amount, weights) == parts


@given(st.integers(min_value=0, max_value=10**15), st.lists(st.integers(min_value=0, max_value=10**15), max_size=9))
def test_spread_adds_up_and_stays_within_a_unit(amount: int, weights: list[int]) -> None:
    parts = spread(amount, weights)
    if not sum(weights):
        assert parts == [0] * len(weights)
        return
    assert sum(parts) == amount
    for part, weight in zip(parts, weights, strict=True):
        assert abs(part - Fraction(amount * weight, sum(weights))) < 1
