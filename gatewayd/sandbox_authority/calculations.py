"""The sandbox authority's tax calculations: Individual Calculations 8.0, list and retrieve (domain model §D1, §D4).

The calculation in the year is always there, the others from the summer after it. Ids are derived from the person, the
tax year and the type. # Chosen: as nothing is kept, `retrieve` answers for any well-formed id, as a calculation in the
year where it is none of those listed. The figures add up, with flat rates for one band; they are made for software to
read and are nobody's tax.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final, NamedTuple

from gatewayd.clock import Instant, to_wire
from gatewayd.sandbox_authority.rules import (
    Call,
    Document,
    derived_uuid,
    error,
    known_scenario,
    nino_error,
    not_found,
    refuse,
    tax_year,
    tax_year_error,
    year_of,
)

FIRST_YEAR: Final = 2017
AMENDMENTS_FROM: Final = 2025
OUTCOMES_FROM: Final = 2023
DYNAMIC_FROM: Final = 2023
_ID: Final = re.compile(r"[0-9]{8}|[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")

TYPES: Final[Mapping[str, str]] = {  # as listed, and as a retrieved calculation calls them
    "in-year": "in-year",
    "intent-to-finalise": "intent-to-finalise",
    "final-declaration": "declare-finalisation",
    "intent-to-amend": "intent-to-amend",
    "confirm-amendment": "confirm-amendment",
}
_AMENDMENTS: Final = ("intent-to-amend", "confirm-amendment")

PERSONAL_ALLOWANCE: Final = 12570
BAND: Final = 37700
CLASS_4_RATE: Final = 6
RATES: Final[Mapping[str, tuple[str, Decimal]]] = {
    "payPensionsProfit": ("basic-rate", Decimal(20)),
    "savingsAndGains": ("basic-rate", Decimal(20)),
    "dividends": ("basic-rate", Decimal("8.75")),
}
SCOTTISH_RATE: Final = ("intermediate-rate", Decimal(21))


class _Case(NamedTuple):
    """What a person has in pounds a year; `kind` is the type of the one business."""

    kind: str
    profit: int
    savings: int = 0
    dividends: int = 0
    gift_aid: int = 0
    regime: str = "uk"


DEFAULT_CASE: Final = _Case("self-employment", 30000)
CASES: Final[Mapping[str, _Case]] = {
    "UK_MULTIPLE_INCOMES_EXAMPLE": _Case("uk-property", 25000, savings=4000, dividends=3000),
    "UK_PROP_DIVIDENDS_EXAMPLE": _Case("uk-property", 24000, dividends=5000),
    "UK_PROP_GIFTAID_EXAMPLE": _Case("uk-property", 28000, gift_aid=1000),
    "UK_PROP_SAVINGS_EXAMPLE": _Case("uk-property", 22000, savings=6000),
    "UK_SE_GIFTAID_EXAMPLE": _Case("self-employment", 32000, gift_aid=500),
    "UK_SE_SAVINGS_EXAMPLE": _Case("self-employment", 26000, savings=3000),
    "SCOT_SE_DIVIDENDS_EXAMPLE": _Case("self-employment", 29000, dividends=2000, regime="scotland"),
}
LIST_SCENARIOS: Final = frozenset({"NOT_FOUND", "DYNAMIC"})
RETRIEVE_SCENARIOS: Final = frozenset(CASES.keys() | {"NOT_FOUND", "ERROR_MESSAGES_EXIST", "DYNAMIC"})


# -- the list


def list_calculations(call: Call) -> Document:
    """GET /individuals/calculations/{nino}/self-assessment/{taxYear}."""
    text, kind = call.parameters.get("taxYear", ""), call.parameters.get("calculationType")
    errors = nino_error(call) + tax_year_error(text, FIRST_YEAR)
    if kind is not None and kind not in TYPES:
        errors.append(error("FORMAT_CALCULATION_TYPE", "The provided calculation type is not valid"))
    refuse(errors)
    year = year_of(text) or 0
    if kind in _AMENDMENTS and year < AMENDMENTS_FROM:
        message = "The provided calculation type is not applicable for this tax year"
        refuse([error("RULE_CALCULATION_TYPE_NOT_ALLOWED", message)])
    known_scenario(call, LIST_SCENARIOS)
    if call.scenario == "NOT_FOUND":
        raise not_found()
    made = [
        type_ for type_ in _types_of(year) if type_ == "in-year" or _moment(year, type_) <= to_wire(Instant(call.now))
    ]
    rows = [_listed(call, year, type_) for type_ in made if kind in (None, type_)]
    if not rows:
        raise not_found()
    return {"calculations": rows}


def _types_of(year: int) -> list[str]:
    """The types that the interface knows for a tax year, in the order in which they follow one another."""
    if year < OUTCOMES_FROM:
        return ["in-year", "final-declaration"]
    return [kind for kind in TYPES if kind not in _AMENDMENTS or year >= AMENDMENTS_FROM]


def _listed(call: Call, year: int, kind: str) -> Document:
    """A calculation of the list, in the words that the interface has for its tax year."""
    row: dict[str, object] = {
        "calculationId": _id_of(call, year, kind),
        "calculationTimestamp": _moment(year, kind),
        "calculationType": kind,
    }
    liability = _Sums(DEFAULT_CASE).due
    if year < OUTCOMES_FROM:
        row |= {"requestedBy": "customer", "taxYear": tax_year(year), "totalIncomeTaxAndNicsDue": liability}
        return {**row, "finalDeclaration": kind == "final-declaration"}
    row |= {"calculationTrigger": "attended", "calculationOutcome": "PROCESSED", "liabilityAmount": liability}
    return row if year < AMENDMENTS_FROM else {**row, "fromDate": f"{year}-04-06", "toDate": f"{year + 1}-04-05"}


def _id_of(call: Call, year: int, kind: str) -> str:
    return derived_uuid("calculation", call.parameters["nino"], year, kind)


def _moment(year: int, kind: str) -> str:
    """When a calculation of a tax year was made: in the year in November, the others one after another after it."""
    if kind == "in-year":
        return f"{year}-11-04T09:35:15.094Z"
    return f"{year + 1}-{6 + list(TYPES).index(kind):02d}-13T07:51:43.112Z"


# -- one calculation


def retrieve_calculation(call: Call) -> Document:
    """GET /individuals/calculations/{nino}/self-assessment/{taxYear}/{calculationId}."""
    text, calculation_id = call.parameters.get("taxYear", ""), call.parameters.get("calculationId", "")
    errors = nino_error(call) + tax_year_error(text, FIRST_YEAR)
    if not _ID.fullmatch(calculation_id):
        errors.append(error("FORMAT_CALCULATION_ID", "The provided calculationId is invalid"))
    refuse(errors)
    year = year_of(text) or 0
    known_scenario(call, RETRIEVE_SCENARIOS - ({"DYNAMIC"} if year < DYNAMIC_FROM else set()))
    if call.scenario == "NOT_FOUND":
        raise not_found()
    case = CASES.get(call.scenario, DEFAULT_CASE)
    document: dict[str, object] = {
        "metadata": _metadata(call, year, calculation_id),
        "inputs": _inputs(call, year, case),
    }
    if call.scenario == "ERROR_MESSAGES_EXIST":
        text = "Final confirmation of income and expenses for all business sources has not been provided"
        document["messages"] = {"errors": [{"id": "C95005", "text": text}]}
    else:
        document["calculation"] = _calculation(case)
        text = "Class 2 National Insurance has not been charged: the profits are under the threshold"
        document["messages"] = {"info": [{"id": "C22203", "text": text}]}
    return document


def _metadata(call: Call, year: int, calculation_id: str) -> Document:
    kinds = {_id_of(call, year, kind): kind for kind in _types_of(year)}
    kind = kinds.get(calculation_id, "in-year")
    metadata: dict[str, object] = {
        "calculationId": calculation_id,
        "taxYear": tax_year(year),
        "requestedBy": "customer",
        "requestedTimestamp": _moment(year, kind),
        "calculationReason": "customer-request",
        "calculationTimestamp": _moment(year, kind),
        "calculationType": TYPES[kind],
        "periodFrom": f"{year}-04-06",
        "periodTo": f"{year + 1}-04-05",
    }
    if year < AMENDMENTS_FROM:  # the interface says it in other words until 2024-25
        metadata["intentToSubmitFinalDeclaration"] = kind == "intent-to-finalise"
        metadata["finalDeclaration"] = kind == "final-declaration"
    return metadata


def _inputs(call: Call, year: int, case: _Case) -> Document:
    source = {
        "incomeSourceId": _source_of(case),
        "incomeSourceType": case.kind,
        "accountingPeriodStartDate": f"{year}-04-06",
        "accountingPeriodEndDate": f"{year + 1}-04-05",
        "source": "MTD-SA",
        "latestPeriodEndDate": f"{year + 1}-04-05",
        "latestReceivedDateTime": _moment(year, "in-year"),
    }
    person = {"identifier": call.parameters["nino"], "taxRegime": case.regime}
    return {"personalInformation": person, "incomeSources": {"businessIncomeSources": [source]}}


def _source_of(case: _Case) -> str:
    return "XBIS12345678901" if case.kind == "self-employment" else "XPIS12345678901"


class _Sums:
    """The tax on what a case has: the allowance goes to profit first, then to savings, then to dividends."""

    def __init__(self, case: _Case) -> None:
        amounts = {"payPensionsProfit": case.profit, "savingsAndGains": case.savings, "dividends": case.dividends}
        left, self.total = PERSONAL_ALLOWANCE, sum(amounts.values())
        self.blocks: dict[str, Document] = {}
        self.tax = Decimal(0)
        for name, amount in amounts.items():
            allowed = min(left, amount)
            left -= allowed
            band, rate = SCOTTISH_RATE if (name, case.regime) == ("payPensionsProfit", "scotland") else RATES[name]
            tax = _percent(amount - allowed, rate)
            self.tax += tax
            if amount:
                self.blocks[name] = _block(amount, allowed, tax, band, rate)
        self.allowed = PERSONAL_ALLOWANCE - left
        self.gift_aid = case.gift_aid * 125 // 100  # grossed up at the basic rate
        chargeable = max(0, case.profit - PERSONAL_ALLOWANCE) if case.kind == "self-employment" else 0
        self.class_4_income = chargeable
        self.class_4 = _percent(chargeable, Decimal(CLASS_4_RATE))
        self.due = self.tax + self.class_4


def _percent(amount: int, rate: Decimal) -> Decimal:
    return (amount * rate / 100).quantize(Decimal("0.01"))


def _block(amount: int, allowed: int, tax: Decimal, band: str, rate: Decimal) -> Document:
    bands = {
        "name": band,
        "rate": rate,
        "bandLimit": BAND,
        "apportionedBandLimit": BAND,
        "income": amount - allowed,
        "taxAmount": tax,
    }
    return {
        "incomeReceived": amount,
        "allowancesAllocated": allowed,
        "taxableIncome": amount - allowed,
        "incomeTaxAmount": tax,
        "taxBands": [bands],
    }


def _calculation(case: _Case) -> Document:
    sums = _Sums(case)
    profit = {"totalIncome": Decimal(case.profit + 5000), "totalExpenses": Decimal(5000)}
    business = {"incomeSourceId": _source_of(case), "incomeSourceType": case.kind, **profit}
    business |= {"netProfit": Decimal(case.profit), "taxableProfit": case.profit}
    kind = "totalSelfEmploymentProfit" if case.kind == "self-employment" else "totalPropertyProfit"
    document: dict[str, object] = {
        "allowancesAndDeductions": {"personalAllowance": PERSONAL_ALLOWANCE},
        "businessProfitAndLoss": [business],
        "incomeSummaryTotals": {kind: case.profit},
        "taxCalculation": _tax(sums),
    }
    if case.savings:
        document["savingsAndGainsIncome"] = _savings(case.savings)
    if case.dividends:
        document["dividendsIncome"] = {"totalChargeableDividends": case.dividends, "totalUkDividends": case.dividends}
    if case.gift_aid:
        tax = _percent(sums.gift_aid, Decimal(20))
        document["giftAid"] = {"grossGiftAidPayments": sums.gift_aid, "rate": Decimal(20), "giftAidTax": tax}
    return document


def _savings(amount: int) -> Document:
    account = {"incomeSourceType": "uk-savings-and-gains", "grossIncome": Decimal(amount)}
    return {
        "totalChargeableSavingsAndGains": amount,
        "totalUkSavingsAndGains": amount,
        "ukSavingsAndGainsIncome": [account],
    }


def _tax(sums: _Sums) -> Document:
    income_tax: dict[str, object] = {
        "totalIncomeReceivedFromAllSources": sums.total,
        "totalAllowancesAndDeductions": sums.allowed,
        "totalTaxableIncome": sums.total - sums.allowed,
        **sums.blocks,
        "incomeTaxCharged": sums.tax,
        "totalIncomeTaxDue": sums.tax,
    }
    document: dict[str, object] = {"incomeTax": income_tax, "totalIncomeTaxNicsCharged": sums.due}
    if sums.class_4_income:
        band = {"name": "basic-rate", "rate": Decimal(CLASS_4_RATE), "income": sums.class_4_income}
        class_4 = {"totalAmount": sums.class_4, "nic4Bands": [{**band, "amount": sums.class_4}]}
        document["nics"] = {"class4Nics": class_4, "totalNic": sums.class_4}
    return {**document, "totalIncomeTaxAndNicsDue": sums.due}
