"""VAT codes of allocations and of rules: what they imply, and what is refused."""

from typing import Any

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.banking.conftest import Trading


def refused(trading: Trading, line: str, **part: Any) -> list[tuple[str, str]]:
    with pytest.raises(Problem) as caught:
        trading.part(line, **part)
    return fields_of(caught.value)


def bought(trading: Trading, amount: int = -12000, **part: Any) -> dict[str, Any]:
    return trading.part(trading.line(trading.current, amount), **part)


@pytest.mark.parametrize(
    ("code", "vat"),
    [
        ("standard", "20.00"),
        ("reduced", "5.71"),
        ("zero", "0.00"),
        ("exempt", "0.00"),
        ("outside_scope", "0.00"),
        ("reverse_charge_domestic_standard", "0.00"),
        ("reverse_charge_services_overseas", "0.00"),
        ("postponed_import_standard", "0.00"),
        ("ni_eu_acquisition_standard", "0.00"),
    ],
)
def test_a_code_says_the_vat_in_the_amount(trading: Trading, code: str, vat: str) -> None:
    row = bought(trading, vatCode=code)
    assert (row["vatCode"], row["vatAmount"]) == (code, vat)


def test_the_rate_is_that_of_the_bill(trading: Trading) -> None:
    assert bought(trading, vatCode="standard", documentDate="2010-12-31")["vatAmount"] == "17.87"  # 17.5 %
    assert bought(trading, vatCode="standard", documentDate="2009-12-31")["vatAmount"] == "15.65"  # 15 %


@pytest.mark.parametrize("vat", ["19.90", "20.00"])
def test_what_a_bill_prints_may_be_off_by_pennies(trading: Trading, vat: str) -> None:
    assert bought(trading, vatCode="standard", vatAmount=vat)["vatAmount"] == vat


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ({"vatCode": "standard", "vatAmount": "19.89"}, ("parts[0].vatAmount", "conflict")),
        ({"vatCode": "standard", "vatAmount": "0"}, ("parts[0].vatAmount", "conflict")),
        ({"vatCode": "reduced", "vatAmount": "20.00"}, ("parts[0].vatAmount", "conflict")),
        ({"vatCode": "zero", "vatAmount": "0.01"}, ("parts[0].vatAmount", "conflict")),
        ({"vatCode": "reverse_charge_services_overseas", "vatAmount": "20.00"}, ("parts[0].vatAmount", "conflict")),
        ({"vatCode": "postponed_import_standard", "vatAmount": "0.01"}, ("parts[0].vatAmount", "conflict")),
        ({"vatCode": "export_goods_zero"}, ("parts[0].vatCode", "conflict")),
        ({"vatCode": "ni_eu_goods_zero"}, ("parts[0].vatCode", "conflict")),
        (
            {"vatCode": "reverse_charge_domestic_standard", "documentDate": "2021-02-28"},
            ("parts[0].vatCode", "vat_rate_invalid_on_date"),
        ),
        (
            {"vatCode": "ni_eu_acquisition_reduced", "documentDate": "2020-12-31"},
            ("parts[0].vatCode", "vat_rate_invalid_on_date"),
        ),
        (
            {"category": "not_pnl", "purpose": "drawings", "vatCode": "outside_scope"},
            ("parts[0].vatCode", "conflict"),
        ),
    ],
)
def test_what_a_code_does_not_allow(trading: Trading, part: dict[str, str], field: tuple[str, str]) -> None:
    line = trading.line(trading.current, -12000)
    assert refused(trading, line, **part) == [field]
    assert trading.left(line) == -12000


def test_small_amounts_are_off_by_a_penny_alone(trading: Trading) -> None:
    line = trading.line(trading.current, -399)
    assert refused(trading, line, vatCode="standard", vatAmount="0.65") == [("parts[0].vatAmount", "conflict")]
    assert trading.part(line, vatCode="standard", vatAmount="0.66")["vatAmount"] == "0.66"


@pytest.mark.parametrize("code", ["postponed_import_reduced", "ni_eu_acquisition_zero"])
def test_what_is_for_purchases_is_no_code_of_a_sale(trading: Trading, code: str) -> None:
    line = trading.line(trading.current, 12000)
    assert refused(trading, line, category="turnover", vatCode=code) == [("parts[0].vatCode", "conflict")]


def test_margin_scheme_is_no_code_of_money(trading: Trading) -> None:
    line = trading.line(trading.current, 12000)
    assert refused(trading, line, category="turnover", vatCode="margin_scheme") == [
        ("parts[0].vatCode", "invalid_enum")
    ]


def test_equipment_has_a_code(trading: Trading) -> None:
    row = bought(trading, category="not_pnl", purpose="other", vatCode="standard")
    assert row["vatAmount"] == "20.00"


@pytest.mark.parametrize(
    ("amount", "own", "other", "is_for"),
    [
        (-12000, "postponed_import_standard", "export_goods_zero", "sold"),
        (12000, "export_goods_zero", "postponed_import_standard", "bought"),
    ],
)
def test_equipment_is_bought_where_money_goes_and_sold_where_it_comes(
    trading: Trading, amount: int, own: str, other: str, is_for: str
) -> None:
    line, equipment = trading.line(trading.current, amount), {"category": "not_pnl", "purpose": "other"}
    with pytest.raises(Problem) as caught:
        trading.part(line, **equipment, vatCode=other)
    assert [error.message for error in caught.value.errors] == [f"It is for what was {is_for}."]
    assert trading.part(line, **equipment, vatCode=own)["vatCode"] == own


def test_of_an_unknown_business_the_code_is_not_what_is_wrong(trading: Trading) -> None:
    line = trading.line(trading.current, -12000)
    assert refused(trading, line, businessId="biz_1", vatCode="standard") == [
        ("parts[0].businessId", "unknown_reference")
    ]


# -- changed


def changed(trading: Trading, row: dict[str, Any], **fields: object) -> dict[str, Any]:
    return trading.post("updateAllocation", allocationId=row["id"], **fields)


def test_another_code_amount_or_bill_gives_the_vat_anew(trading: Trading) -> None:
    row = bought(trading, vatCode="standard", vatAmount="19.95")
    assert changed(trading, row, description="Nails")["vatAmount"] == "19.95"
    assert changed(trading, row, amount="60.00")["vatAmount"] == "10.00"
    assert changed(trading, row, vatCode="reduced")["vatAmount"] == "2.86"
    assert changed(trading, row, vatCode="standard", documentDate="2010-12-31")["vatAmount"] == "8.94"
    assert changed(trading, row, vatAmount="8.90")["vatAmount"] == "8.90"
    assert changed(trading, row, vatCode="zero")["vatAmount"] == "0.00"


def test_without_its_code_an_allocation_keeps_its_vat(trading: Trading) -> None:
    row = bought(trading, vatCode="standard")
    after = changed(trading, row, vatCode=None)
    assert (after["vatCode"], after["vatAmount"]) == (None, "20.00")
    assert changed(trading, row, amount="60.00", vatAmount="1.00")["vatAmount"] == "1.00"


def test_a_change_is_held_against_the_code(trading: Trading) -> None:
    row = bought(trading, vatCode="standard")
    for fields, found in (
        ({"vatAmount": "1.00"}, ("vatAmount", "conflict")),
        ({"vatCode": "export_goods_zero"}, ("vatCode", "conflict")),
        ({"vatCode": "ni_eu_acquisition_zero", "documentDate": "2020-12-31"}, ("vatCode", "vat_rate_invalid_on_date")),
    ):
        with pytest.raises(Problem) as caught:
            changed(trading, row, **fields)
        assert fields_of(caught.value)[-1] == found


# -- rules, and what is learned


def test_a_rule_codes_what_it_allocates(trading: Trading) -> None:
    code = "reverse_charge_services_overseas"
    trading.post(
        "createRule",
        name="Hosting",
        mode="apply",
        conditions={"text": "tesco"},
        outcome={"category": "adminCosts", "vatCode": code},
    )
    line = trading.line(trading.current, -12000)
    trading.post("applyRules")
    (row,) = trading.of_line(line)
    assert (row.vat_code, row.vat_amount.minor) == (code, 0)


def test_a_rule_whose_code_has_no_rate_that_day_is_told_and_not_applied(trading: Trading) -> None:
    trading.post(
        "createRule",
        name="Roofs",
        mode="apply",
        conditions={"text": "tesco"},
        outcome={"category": "adminCosts", "vatCode": "reverse_charge_domestic_standard"},
    )
    line = trading.line(trading.current, -12000, date="2021-02-28")
    (told,) = trading.post("applyRules")["data"]
    assert told["allocation"] is None
    assert told["refusal"]
    assert trading.of_line(line) == []


@pytest.mark.parametrize(
    "outcome",
    [
        {"category": "not_pnl", "purpose": "drawings", "vatCode": "zero"},
        {"category": "turnover", "vatCode": "postponed_import_standard"},
        {"category": "adminCosts", "vatCode": "ni_eu_goods_zero"},
    ],
)
def test_a_rule_has_no_code_that_could_not_be(trading: Trading, outcome: dict[str, str]) -> None:
    with pytest.raises(Problem) as caught:
        trading.post(
            "createRule",
            name="No",
            conditions={"text": "tesco"},
            outcome={"businessId": trading.trade, **outcome},
        )
    assert fields_of(caught.value) == [("outcome.vatCode", "conflict")]


def test_what_is_learned_names_the_code(trading: Trading) -> None:
    code = "reverse_charge_services_overseas"
    for _ in range(2):
        bought(trading, vatCode=code)
    line = trading.line(trading.current, -6000)
    (proposed,) = trading.one("listProposals", f"bankTransactionId={line}")["data"]
    allocation = proposed["proposals"][0]["allocation"]
    assert (allocation["vatCode"], allocation["vatAmount"]) == (code, "0.00")
    rule = trading.post("learnRule", bankTransactionId=line)
    assert (rule["outcome"]["vatCode"], rule["outcome"]["vatPercent"]) == (code, None)


# -- the key of another system


def test_an_allocation_is_found_by_its_external_id(trading: Trading) -> None:
    row = bought(trading, externalId="bill-7")
    bought(trading)
    assert [one["id"] for one in trading.one("listAllocations", "externalId=bill-7")["data"]] == [row["id"]]


def test_an_external_id_is_of_one_allocation(trading: Trading) -> None:
    first = bought(trading, externalId="bill-7")
    second = bought(trading, externalId="bill-8")
    line = trading.line(trading.current, -12000)
    half = {"category": "adminCosts", "amount": "60.00"}
    for act in (
        lambda: trading.part(line, externalId="bill-7"),
        lambda: changed(trading, second, externalId="bill-7"),
        lambda: trading.post(
            "allocate",
            bankTransactionId=line,
            parts=[{**half, "externalId": "bill-9"}, {**half, "externalId": "bill-9"}],
        ),
    ):
        with pytest.raises(Problem, match="already_exists"):
            act()
    assert trading.left(line) == -12000
    assert changed(trading, first, externalId=None)["externalId"] is None
    assert trading.part(line, externalId="bill-7")["externalId"] == "bill-7"


def test_what_is_replaced_gives_its_external_id_up(trading: Trading) -> None:
    line = trading.line(trading.current, -12000)
    trading.part(line, externalId="bill-7")
    parts = [{"category": "premisesRunningCosts", "externalId": "bill-7"}]
    (row,) = trading.post("allocate", bankTransactionId=line, parts=parts, replace=True)["allocations"]
    assert (row["externalId"], row["category"]) == ("bill-7", "premisesRunningCosts")
