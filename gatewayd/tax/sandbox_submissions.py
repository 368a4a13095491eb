"""The sandbox authority takes a VAT return: POST /organisations/vat/{vrn}/returns (VAT interface 1.0, §D4).

What is submitted is checked as the authority checks it and acknowledged with ids derived from the registration number
and the bytes of the body: the same return is acknowledged alike by every daemon, and nothing is kept.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

import msgspec

from gatewayd.clock import Instant, to_wire
from gatewayd.tax.sandbox_rules import (
    AuthorityFault,
    Call,
    Document,
    Reply,
    derived_number,
    derived_uuid,
    digest,
    error,
    fault,
    insolvent,
    known_scenario,
)
from gatewayd.tax.sandbox_vat import PERIOD_KEY, check_vrn

_REFUSALS: Final[Mapping[str, tuple[int, str, str]]] = {
    "INVALID_VRN": (400, "VRN_INVALID", "The provided VRN is invalid"),
    "INVALID_PERIODKEY": (400, "PERIOD_KEY_INVALID", "Invalid period key"),
    "INVALID_PAYLOAD": (400, "INVALID_REQUEST", "Invalid request"),
    "TAX_PERIOD_NOT_ENDED": (
        403,
        "TAX_PERIOD_NOT_ENDED",
        "The remote endpoint has indicated that the submission is for a tax period that has not ended",
    ),
}
SUBMISSION_SCENARIOS: Final = frozenset(_REFUSALS.keys() | {"DUPLICATE_SUBMISSION", "INSOLVENT_TRADER"})

_ANY: Final = Decimal("9999999999999.99")
_POUNDS: Final = Decimal("9999999999999")
_NET: Final = Decimal("99999999999.99")
_BETWEEN: Final = "amount should be a monetary value (to 2 decimal places), between"
_ANY_MESSAGE: Final = f"{_BETWEEN} -9,999,999,999,999.99 and 9,999,999,999,999.99"
_NET_MESSAGE: Final = f"{_BETWEEN} 0 and 99,999,999,999.99"
_POUNDS_MESSAGE: Final = "The value must be between -9999999999999 and 9999999999999"

_Box = tuple[Decimal, Decimal, int, str]
_PENCE: Final[_Box] = (-_ANY, _ANY, 2, _ANY_MESSAGE)
_WHOLE: Final[_Box] = (-_POUNDS, _POUNDS, 0, _POUNDS_MESSAGE)
_BOXES: Final[Mapping[str, _Box]] = {  # least, most, decimal places, what the authority says of other values
    "vatDueSales": _PENCE,
    "vatDueAcquisitions": _PENCE,
    "totalVatDue": _PENCE,
    "vatReclaimedCurrPeriod": _PENCE,
    "netVatDue": (Decimal(0), _NET, 2, _NET_MESSAGE),
    "totalValueSalesExVAT": _WHOLE,
    "totalValuePurchasesExVAT": _WHOLE,
    "totalValueGoodsSuppliedExVAT": _WHOLE,
    "totalAcquisitionsExVAT": _WHOLE,
}
_DECODER: Final = msgspec.json.Decoder(float_hook=Decimal)
_ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def submit_return(call: Call) -> Reply:
    """Checks a return, then acknowledges it, or refuses it as the scenario asks."""
    check_vrn(call)
    boxes = _checked(_decoded(call.body))
    known_scenario(call, SUBMISSION_SCENARIOS)
    if call.scenario == "INSOLVENT_TRADER":
        raise insolvent(403)
    if call.scenario == "DUPLICATE_SUBMISSION":
        raise _business_error("DUPLICATE_SUBMISSION", "The VAT return was already submitted for the given period.")
    if call.scenario:
        raise fault(*_REFUSALS[call.scenario])
    return _acknowledgement(call, boxes["totalVatDue"] - boxes["vatReclaimedCurrPeriod"])


def _decoded(body: bytes) -> Mapping[str, object]:
    """The fields of the body; any JSON that is no object has none."""
    try:
        document = _DECODER.decode(body)
    except (msgspec.DecodeError, ValueError, ArithmeticError, RecursionError) as problem:
        raise AuthorityFault(400, {"statusCode": 400, "message": "Invalid Json"}) from problem
    return document if isinstance(document, dict) else {}


def _checked(document: Mapping[str, object]) -> Mapping[str, Decimal]:
    """The nine boxes, once all is as it must be: the fields, then the sums, then the declaration."""
    errors = _period_key_errors(document)
    boxes: dict[str, Decimal] = {}
    for name, box in _BOXES.items():
        amount = _amount(document, name, box, errors)
        if amount is not None:
            boxes[name] = amount
    finalised = document.get("finalised")
    if "finalised" not in document:
        errors.append(error("MANDATORY_FIELD_MISSING", "a mandatory field is missing", "/finalised"))
    elif not isinstance(finalised, bool):
        errors.append(error("UNMAPPED_PLAY_ERROR", "error.expected.jsboolean", "/finalised"))
    _refuse(errors)
    _refuse(_sum_errors(boxes))
    if not finalised:
        message = "The return cannot be accepted without a declaration it is finalised."
        raise _business_error("NOT_FINALISED", message, "/finalised")
    return boxes


def _period_key_errors(document: Mapping[str, object]) -> list[Document]:
    if "periodKey" not in document:
        return [error("MANDATORY_FIELD_MISSING", "a mandatory field is missing", "/periodKey")]
    key = document["periodKey"]
    if not isinstance(key, str):
        return [error("INVALID_STRING_VALUE", "please provide a string field", "/periodKey")]
    if not PERIOD_KEY.fullmatch(key):
        return [error("PERIOD_KEY_INVALID", "period key should be a 4 character string", "/periodKey")]
    return []


def _amount(document: Mapping[str, object], name: str, box: _Box, errors: list[Document]) -> Decimal | None:
    """The amount of a box; None after adding to `errors` why there is none."""
    if name not in document:
        errors.append(error("MANDATORY_FIELD_MISSING", "a mandatory field is missing", f"/{name}"))
        return None
    given = document[name]
    if isinstance(given, bool) or not isinstance(given, int | Decimal):
        errors.append(error("INVALID_NUMERIC_VALUE", "please provide a numeric field", f"/{name}"))
        return None
    amount, (least, most, places, message) = Decimal(given), box
    if least <= amount <= most and amount == round(amount, places):
        return amount
    errors.append(error("INVALID_MONETARY_AMOUNT", message, f"/{name}"))
    return None


def _sum_errors(boxes: Mapping[str, Decimal]) -> list[Document]:
    total, reclaimed = boxes["totalVatDue"], boxes["vatReclaimedCurrPeriod"]
    errors = []
    if boxes["netVatDue"] != abs(total - reclaimed):
        message = (
            "netVatDue should be the difference between the largest and the smallest values"
            " among totalVatDue and vatReclaimedCurrPeriod"
        )
        errors.append(error("VAT_NET_VALUE", message, "/netVatDue"))
    if boxes["vatDueSales"] + boxes["vatDueAcquisitions"] != total:
        message = "totalVatDue should be equal to vatDueSales + vatDueAcquisitions"
        errors.append(error("VAT_TOTAL_VALUE", message, "/totalVatDue"))
    return errors


def _refuse(errors: list[Document]) -> None:
    """Errors of a body stand in a list, a single one too."""
    if errors:
        raise AuthorityFault(400, {**error("INVALID_REQUEST", "Invalid request"), "errors": errors})


def _business_error(code: str, message: str, path: str | None = None) -> AuthorityFault:
    outside = error("BUSINESS_ERROR", "Business validation error")
    return AuthorityFault(403, {**outside, "errors": [error(code, message, path)]})


def _acknowledgement(call: Call, due: Decimal) -> Reply:
    """`due` is what is owed to the authority; negative where it owes the trader."""
    vrn = call.parameters["vrn"]
    at = to_wire(Instant(call.now))
    document: dict[str, object] = {
        "processingDate": at,
        "formBundleNumber": f"{derived_number(10**12, 'bundle', vrn, call.body):012d}",
    }
    if due > 0:
        octets = digest("charge", vrn, call.body)[:16]
        reference = "".join([_ALPHABET[octet % len(_ALPHABET)] for octet in octets])
        document |= {"paymentIndicator": "DD", "chargeRefNumber": reference}
    elif due < 0:
        document["paymentIndicator"] = "BANK"
    receipt = {"Receipt-ID": derived_uuid("receipt", vrn, call.body), "Receipt-Timestamp": at}
    return Reply(201, document, receipt)
