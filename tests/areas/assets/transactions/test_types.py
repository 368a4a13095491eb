"""What each type takes and what it does to cash: Domain B3, from its table and not from the code's."""

from collections.abc import Mapping

import pytest

from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.assets.transactions.broking import Broking

DAY = "2026-05-06"
MONEY: Mapping[str, object] = {"grossAmount": "200.00"}
HELD: Mapping[str, object] = {"quantity": "10", "grossAmount": "200.00"}
TWO = {"numerator": 2, "denominator": 1}
FROM_VOD: Mapping[str, object] = {"fromInstrumentId": "VOD", "instrumentId": "AAPL"}
COSTS: Mapping[str, object] = {"fees": "5.95", "taxes": "1.05"}

# of each type a request that is complete, and what it does to cash
COMPLETE: list[tuple[str, Mapping[str, object], str]] = [
    ("buy", {**HELD, **COSTS}, "-207.00"),
    ("sell", {**HELD, **COSTS}, "193.00"),
    ("transfer_in", {**HELD, "fees": "5.95"}, "-5.95"),
    ("transfer_out", {**HELD, "fees": "5.95"}, "-5.95"),
    ("deposit", {**MONEY, "instrumentId": None}, "200.00"),
    ("withdrawal", {**MONEY, "fees": "1.00", "instrumentId": None}, "-201.00"),
    ("dividend", {**MONEY, "taxes": "30.00"}, "170.00"),
    ("interest", {**MONEY, "instrumentId": None}, "200.00"),
    ("interest", {**MONEY, "taxes": "40.00"}, "160.00"),
    ("distribution", {**MONEY, "exDate": "2026-04-30"}, "200.00"),
    ("notional_distribution", MONEY, "0.00"),
    ("equalisation", MONEY, "200.00"),
    ("return_of_capital", MONEY, "200.00"),
    ("fee", {**MONEY, "instrumentId": None}, "-200.00"),
    ("fee", MONEY, "-200.00"),
    ("tax", {**MONEY, "instrumentId": None}, "-200.00"),
    ("split", {"splitRatio": TWO}, "0.00"),
    ("bonus_issue", {"quantity": "10"}, "0.00"),
    ("rights_issue", {**HELD, **COSTS}, "-207.00"),
    ("spin_off", {"quantity": "10", **FROM_VOD, "costShare": "0.2"}, "0.00"),
    ("spin_off", {**HELD, **FROM_VOD, "currency": "GBP"}, "0.00"),
    ("merger", {"quantity": "10", **FROM_VOD}, "0.00"),
    (
        "merger",
        {"quantity": "1", **FROM_VOD, "fromQuantity": "7", "currency": "GBP"} | MONEY,
        "200.00",
    ),
    ("stock_dividend", HELD, "0.00"),
    ("excess_reportable_income", MONEY, "0.00"),
    ("opening_position", HELD, "0.00"),
]


def settled(broking: Broking, fields: Mapping[str, object]) -> dict[str, object]:
    ids = {"VOD": broking.vod, "AAPL": broking.aapl}
    return {name: ids.get(value, value) if isinstance(value, str) else value for name, value in fields.items()}


@pytest.mark.parametrize(("kind", "fields", "net"), COMPLETE, ids=lambda value: value if isinstance(value, str) else "")
def test_a_type_moves_cash_as_the_domain_says(
    broking: Broking, kind: str, fields: Mapping[str, object], net: str
) -> None:
    broking.buy("100", "2026-05-01")
    before = broking.cash().get((broking.first, "GBP"), 0)
    made = broking.enter(kind, DAY, **settled(broking, fields))
    assert (made["type"], made["netAmount"], made["currency"]) == (kind, net, "GBP")
    after = broking.cash().get((broking.first, "GBP"), 0)
    assert after - before == round(float(net) * 100)
    assert broking.cash() == broking.net()


# of each type the fields without which it says too little
NEEDED = {
    **dict.fromkeys(["buy", "sell", "rights_issue", "stock_dividend", "opening_position"], "quantity grossAmount"),
    **dict.fromkeys(["transfer_in", "transfer_out"], "quantity grossAmount"),
    **dict.fromkeys(["deposit", "withdrawal", "interest", "fee", "tax"], "grossAmount"),
    **dict.fromkeys(["dividend", "distribution", "notional_distribution"], "grossAmount"),
    **dict.fromkeys(["equalisation", "return_of_capital", "excess_reportable_income"], "grossAmount"),
    "split": "splitRatio",
    "bonus_issue": "quantity",
    "spin_off": "quantity fromInstrumentId costShare",
    "merger": "quantity fromInstrumentId",
    "reversal": "reversesTransactionId",
}
WITHOUT_INSTRUMENT = {"deposit", "withdrawal", "interest", "fee", "tax", "reversal"}


@pytest.mark.parametrize("kind", NEEDED)
def test_what_a_type_needs_is_asked_for_all_at_once(broking: Broking, kind: str) -> None:
    with pytest.raises(Problem) as caught:
        broking.enter(kind, DAY, instrumentId=None)
    instrument = set() if kind in WITHOUT_INSTRUMENT else {"instrumentId"}
    assert set(fields_of(caught.value)) == {(name, "required") for name in {*NEEDED[kind].split()} | instrument}


@pytest.mark.parametrize(
    ("kind", "fields", "refused"),
    [
        ("deposit", {**HELD, "unitPrice": "20", "taxes": "1.00"}, {"instrumentId", "quantity", "unitPrice", "taxes"}),
        (
            "buy",
            {**HELD, "splitRatio": TWO, "costShare": "1"},
            {"splitRatio", "costShare"},
        ),
        ("buy", {**HELD, "fromInstrumentId": "VOD", "spouseTransfer": True}, {"fromInstrumentId", "spouseTransfer"}),
        (
            "split",
            {"splitRatio": TWO, **HELD, **COSTS, "fxRate": "1", "currency": "GBP"},
            {"quantity", "grossAmount", "fees", "taxes", "fxRate", "currency"},
        ),
        ("bonus_issue", HELD, {"grossAmount"}),
        ("fee", {**MONEY, "fees": "1.00"}, {"fees"}),
        ("notional_distribution", {**MONEY, **COSTS}, {"fees", "taxes"}),
        ("opening_position", {**HELD, "fees": "1.00", "exDate": DAY}, {"fees", "exDate"}),
        ("sell", {**HELD, "counterAccountId": "VOD"}, {"counterAccountId"}),
        (
            "merger",
            {"quantity": "1", **FROM_VOD, "currency": "GBP"},
            {"currency"},
        ),
        ("transfer_out", {"quantity": "1", "spouseTransfer": True, "fxRate": "1.2"}, {"fxRate"}),
        (
            "spin_off",
            {**HELD, "costShare": "1", **FROM_VOD, "fromQuantity": "7", "currency": "GBP"},
            {"costShare", "fromQuantity"},
        ),
    ],
)
def test_what_a_type_does_not_take_is_refused_all_at_once(
    broking: Broking, kind: str, fields: Mapping[str, object], refused: set[str]
) -> None:
    with pytest.raises(Problem) as caught:
        broking.enter(kind, DAY, **settled(broking, fields))
    found = fields_of(caught.value)
    assert {path for path, code in found if code == "conflict"} == refused


@pytest.mark.parametrize(
    ("fields", "path", "code"),
    [
        ({"quantity": "0"}, "quantity", "out_of_range"),
        ({"quantity": "-1"}, "quantity", "out_of_range"),
        ({"unitPrice": "-1"}, "unitPrice", "out_of_range"),
        ({"grossAmount": "-1.00"}, "grossAmount", "out_of_range"),
        ({"fees": "-0.01"}, "fees", "out_of_range"),
        ({"taxes": "-0.01"}, "taxes", "out_of_range"),
        ({"fees": "0.001"}, "fees", "invalid_decimal"),
        ({"tradeDate": "2026-11-21"}, "tradeDate", "out_of_range"),
        ({"tradeDate": "0026-05-06"}, "tradeDate", "out_of_range"),
        ({"settlementDate": "0026-05-06"}, "settlementDate", "out_of_range"),
        ({"settlementDate": "2026-05-05"}, "settlementDate", "date_order"),
        ({"currency": "USD", "fxRate": "0"}, "fxRate", "out_of_range"),
        ({"currency": "BMD"}, "fxRate", "required"),  # of which HMRC publishes nothing that is kept here
        ({"fxRate": "1.1"}, "fxRate", "conflict"),
        ({"accountId": "acc_none"}, "accountId", "unknown_reference"),
        ({"instrumentId": "ins_none"}, "instrumentId", "unknown_reference"),
        ({"instrument": {"symbol": "VOD"}}, "instrument", "conflict"),
        ({"instrumentId": None, "instrument": {"isin": "GB00BH4HKS38"}}, "instrument.isin", "invalid_format"),
    ],
)
def test_a_value_that_cannot_be_is_refused(
    broking: Broking, fields: Mapping[str, object], path: str, code: str
) -> None:
    with pytest.raises(Problem) as caught:
        broking.enter("buy", DAY, **{"quantity": "10", **({} if "unitPrice" in fields else MONEY), **fields})
    assert (path, code) in fields_of(caught.value)
    assert broking.listed() == []


def test_everything_that_is_wrong_is_told_in_one_answer(broking: Broking) -> None:
    with pytest.raises(Problem) as caught:
        broking.enter(
            "buy", "2026-12-01", accountId="acc_none", instrumentId="ins_none", quantity="0", exDate=DAY, fees="-1.00"
        )
    assert set(fields_of(caught.value)) == {
        ("tradeDate", "out_of_range"),
        ("accountId", "unknown_reference"),
        ("instrumentId", "unknown_reference"),
        ("quantity", "out_of_range"),
        ("grossAmount", "required"),
        ("exDate", "conflict"),
        ("fees", "out_of_range"),
    }


def test_an_ex_date_of_another_age_is_refused(broking: Broking) -> None:
    with pytest.raises(Problem) as caught:
        broking.enter("dividend", DAY, exDate="0001-01-01", **MONEY)
    assert fields_of(caught.value) == [("exDate", "out_of_range")]


def test_today_is_not_to_come(broking: Broking) -> None:
    assert broking.buy(date="2026-11-20")["tradeDate"] == "2026-11-20"


def test_a_rate_of_one_may_be_said(broking: Broking) -> None:
    assert broking.buy(fxRate="1.000")["fxRate"] == "1"
