"""The sandbox authority's VAT interface, 1.0: obligations, liabilities, payments, returns (domain model §D1, §D4).

Field names, error codes and scenarios are those of the authority's published description of 26 May 2026. Validation
comes first, then the scenario. No return is kept: `view_return` answers for the period keys that the scenarios show
as fulfilled, with figures derived from the registration number and the key.
"""

import datetime
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final, NamedTuple

from gatewayd.clock import months_later
from gatewayd.sandbox_authority.rules import (
    AuthorityFault,
    Call,
    Document,
    date_of,
    derived_number,
    fault,
    insolvent,
    is_vrn,
    known_scenario,
)

FIRST_FINANCIAL_DAY: Final = datetime.date(2016, 4, 6)
"""Liabilities and payments. # Chosen: what the authority's service enforces; its page says 2017-12-01, after the dates
of the scenarios that it documents."""

MAX_OBLIGATION_DAYS: Final = 366
MAX_FINANCIAL_DAYS: Final = 365

_PERIOD_KEY: Final = re.compile(r"[#0-9A-Z]{4}")
_NUMBERS: Final = ("NONE", "ONE", "TWO", "THREE", "FOUR")
_LETTERS: Final = "DEFGHIJKLMNO"  # of the months, from the published 18AD on


class _Stagger(NamedTuple):
    """How often a trader files: periods of so many months, and how the authority writes their keys."""

    name: str
    months: int
    keys: str


_QUARTERLY: Final = _Stagger("QUARTERLY", 3, "1234")
_MONTHLY: Final = _Stagger("MONTHLY", 1, _LETTERS)


class _Year(NamedTuple):
    """The obligations of a scenario: `met` fulfilled ones from January on, then `open_` open ones."""

    stagger: _Stagger
    year: int
    met: int
    open_: int


def _scenarios() -> dict[str, _Year]:
    """The obligations of every scenario that lists some.

    # Chosen: after those met comes one that is open, as in the published example; of the two open obligations of the
    MULTIPLE_OPEN scenarios the second is the year's last.
    """
    years: dict[str, _Year] = {}
    for stagger, most in ((_QUARTERLY, 4), (_MONTHLY, 3)):
        count = 12 // stagger.months
        for met, word in enumerate(_NUMBERS[: most + 1]):
            years[f"{stagger.name}_{word}_MET"] = _Year(stagger, 2017, met, min(1, count - met))
        for number in range(1, count + 1):
            years[f"{stagger.name}_OBS_{number:02d}_OPEN"] = _Year(stagger, 2018, number - 1, 1)
        years[f"{stagger.name}_OBS_{count:02d}_FULFILLED"] = _Year(stagger, 2018, count, 0)
        years[f"MULTIPLE_OPEN_{stagger.name}"] = _Year(stagger, 2018, count - 2, 2)
    return years


OBLIGATION_YEARS: Final = _scenarios()
DEFAULT_OBLIGATIONS: Final = "QUARTERLY_ONE_MET"
SPANNING: Final[Document] = {  # Chosen: the quarter around the turn of 2018
    "start": "2018-12-01",
    "end": "2019-02-28",
    "due": "2019-04-07",
    "status": "O",
    "periodKey": "18B1",
}
OBLIGATION_SCENARIOS: Final = frozenset(
    OBLIGATION_YEARS.keys() | {"OBS_SPANS_MULTIPLE_YEARS", "INSOLVENT_TRADER", "NOT_FOUND"}
)
SUBMITTED_KEYS: Final = frozenset(
    {f"18A{key}" for key in _QUARTERLY.keys + _MONTHLY.keys} | {"A001", "#001"}  # fulfilled above; published examples
)
RETURN_SCENARIOS: Final = frozenset({"DATE_RANGE_TOO_LARGE", "INSOLVENT_TRADER"})


# -- reads


def obligations(call: Call) -> Document:
    """GET /organisations/vat/{vrn}/obligations.

    # Chosen: the scenario's obligations whatever the dates, which are only checked; `status` selects among them.
    """
    _check_vrn(call)
    _check_obligation_query(call.parameters)
    known_scenario(call, OBLIGATION_SCENARIOS)
    if call.scenario == "INSOLVENT_TRADER":
        raise insolvent(403)
    if call.scenario == "OBS_SPANS_MULTIPLE_YEARS":
        documents = [SPANNING]
    elif call.scenario == "NOT_FOUND":
        documents = []
    else:
        documents = _obligations_of(OBLIGATION_YEARS[call.scenario or DEFAULT_OBLIGATIONS])
    wanted = call.parameters.get("status")
    return _listed("obligations", [document for document in documents if wanted in (None, document["status"])])


def _obligations_of(plan: _Year) -> list[Document]:
    listed: list[Document] = []
    for index in range(plan.met + plan.open_):
        start = datetime.date(plan.year, 1 + index * plan.stagger.months, 1)
        following = months_later(start, plan.stagger.months)
        due = months_later(following, 1).replace(day=7)  # a month and seven days after the end of a month (§C6)
        met = index < plan.met
        obligation: dict[str, object] = {
            "start": start.isoformat(),
            "end": (following - datetime.timedelta(days=1)).isoformat(),
            "due": due.isoformat(),
            "status": "F" if met else "O",
            "periodKey": f"18A{plan.stagger.keys[index]}",
        }
        received = {"received": (due - datetime.timedelta(days=1)).isoformat()} if met else {}
        listed.append({**obligation, **received})
    return listed


def _check_obligation_query(query: Mapping[str, str]) -> None:
    status, since, until = query.get("status"), query.get("from"), query.get("to")
    if since is None and until is None and status == "O":
        return
    if status not in (None, "O", "F"):
        raise fault(400, "INVALID_STATUS", "The provided data is failed validation, invalid status")
    first, last = date_of(since), date_of(until)
    if first is None:
        raise fault(400, "INVALID_DATE_FROM", "The provided from date is invalid")
    if last is None:
        raise fault(400, "INVALID_DATE_TO", "The provided to date is invalid")
    if not first < last or (last - first).days > MAX_OBLIGATION_DAYS:
        raise fault(400, "INVALID_DATE_RANGE", "Invalid date range, must be 366 days or less")


def _record(kind: str, year: int, first: str, last: str, amount: str) -> Document:
    """A liability of the period from `first` to `last`, months and days."""
    until = datetime.date.fromisoformat(f"{year}-{last}")
    return {
        "taxPeriod": {"from": f"{year}-{first}", "to": until.isoformat()},
        "type": kind,
        "originalAmount": Decimal(amount),
        "outstandingAmount": Decimal(amount) / 2,
        "due": months_later(until, 1).isoformat(),
    }


def _liabilities_of(year: int) -> list[Document]:
    return [
        _record("VAT Return Debit Charge", year, "04-05", "07-04", "463872.00"),
        _record("VAT Return Debit Charge", year, "07-05", "10-04", "15.00"),
        _record("VAT CA Charge", year, "10-05", "12-21", "8493.38"),
    ]


def _payments_of(year: int) -> list[Document]:
    days = (("5.00", "02-27"), ("50.00", "05-02"), ("1000.10", "12-21"))
    return [{"amount": Decimal(amount), "received": f"{year}-{day}"} for amount, day in days]


LIABILITIES: Final[Mapping[str, list[Document]]] = {
    "SINGLE_LIABILITY": [_record("VAT Return Debit Charge", 2017, "01-02", "02-02", "463872.00")],
    "MULTIPLE_LIABILITIES": _liabilities_of(2017),
    "SINGLE_LIABILITY_2018_19": [_record("VAT Return Debit Charge", 2018, "01-02", "02-02", "463872.00")],
    "MULTIPLE_LIABILITIES_2018_19": _liabilities_of(2018),
}
PAYMENTS: Final[Mapping[str, list[Document]]] = {
    "SINGLE_PAYMENT": [{"amount": Decimal("1534.65"), "received": "2017-02-02"}],
    "MULTIPLE_PAYMENTS": _payments_of(2017),
    "SINGLE_PAYMENT_2018_19": [{"amount": Decimal("1534.65"), "received": "2018-02-02"}],
    "MULTIPLE_PAYMENTS_2018_19": _payments_of(2018),
}


def liabilities(call: Call) -> Document:
    """GET /organisations/vat/{vrn}/liabilities: those whose period ends within the dates."""
    return _financial(call, "liabilities", LIABILITIES, _period_end)


def payments(call: Call) -> Document:
    """GET /organisations/vat/{vrn}/payments: those received within the dates."""
    return _financial(call, "payments", PAYMENTS, _day_received)


def _period_end(liability: Document) -> str:
    period = liability["taxPeriod"]
    return str(period["to"]) if isinstance(period, dict) else ""


def _day_received(payment: Document) -> str:
    return str(payment["received"])


def _financial(
    call: Call, name: str, records: Mapping[str, list[Document]], day_of: Callable[[Document], str]
) -> Document:
    """The records of a scenario, by date; without a scenario there are none (§D4)."""
    _check_vrn(call)
    since, until = call.parameters.get("from"), call.parameters.get("to")
    first, last = date_of(since), date_of(until)
    if first is None or first < FIRST_FINANCIAL_DAY:
        raise _legacy("DATE_FROM_INVALID")
    if last is None or last > call.today:
        raise _legacy("DATE_TO_INVALID")
    if not first < last or (last - first).days > MAX_FINANCIAL_DAYS:
        raise _legacy("DATE_RANGE_INVALID")
    known_scenario(call, records.keys() | {"INSOLVENT_TRADER"})
    if call.scenario == "INSOLVENT_TRADER":
        raise insolvent(403)
    documents = records.get(call.scenario, [])
    return _listed(
        name, [document for document in documents if first.isoformat() <= day_of(document) <= last.isoformat()]
    )


def view_return(call: Call) -> Document:
    """GET /organisations/vat/{vrn}/returns/{periodKey}."""
    _check_vrn(call)
    key = call.parameters.get("periodKey", "")
    if not _PERIOD_KEY.fullmatch(key):
        raise fault(400, "PERIOD_KEY_INVALID", "Invalid period key")
    known_scenario(call, RETURN_SCENARIOS)
    if call.scenario == "INSOLVENT_TRADER":
        raise insolvent(403)
    if call.scenario == "DATE_RANGE_TOO_LARGE":
        message = "The date of the requested return cannot be further than four years from the current date."
        raise fault(403, "DATE_RANGE_TOO_LARGE", message)
    if key not in SUBMITTED_KEYS:
        raise _nothing()
    return {"periodKey": key, **_figures(call.parameters["vrn"], key)}


def _figures(vrn: str, key: str) -> dict[str, Decimal]:
    """The nine boxes of a return, which add up as the authority demands."""

    def amount(box: str, below: int) -> Decimal:
        return Decimal(derived_number(below, vrn, key, box)).scaleb(-2)

    sales, acquisitions = amount("sales", 5_000_000), amount("acquisitions", 100_000)
    reclaimed = amount("reclaimed", 4_000_000)
    return {
        "vatDueSales": sales,
        "vatDueAcquisitions": acquisitions,
        "totalVatDue": sales + acquisitions,
        "vatReclaimedCurrPeriod": reclaimed,
        "netVatDue": abs(sales + acquisitions - reclaimed),
        "totalValueSalesExVAT": Decimal(int(sales) * 5),  # at the standard rate of 20%
        "totalValuePurchasesExVAT": Decimal(int(reclaimed) * 5),
        "totalValueGoodsSuppliedExVAT": Decimal(0),
        "totalAcquisitionsExVAT": Decimal(int(acquisitions) * 5),
    }


# -- what the reads share


def _check_vrn(call: Call) -> None:
    """Refuses a registration number that is not nine digits."""
    if not is_vrn(call.parameters["vrn"]):
        raise fault(400, "VRN_INVALID", "The provided VRN is invalid")


def _listed(name: str, documents: list[Document]) -> Document:
    """A list under its name; an empty one is 404, as the authority has it."""
    if not documents:
        raise _nothing()
    return {name: documents}


def _nothing() -> AuthorityFault:
    return fault(404, "NOT_FOUND", "The requested resource could not be found")


def _legacy(code: str) -> AuthorityFault:
    """The shape that liabilities and payments have kept (§0.1, finding 7)."""
    return AuthorityFault(400, {"statusCode": 400, "message": code})
