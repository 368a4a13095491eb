"""Where each operation goes: the authority's endpoint with its parameters (domain model §D1), or its own path. Pure.

Nothing of a caller becomes a path but single segments of harmless characters; the query is written anew from the
names that the endpoint knows.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple
from urllib.parse import quote, urlencode

from gatewayd.errors import FieldError, invalid

Identity = Literal["vrn", "nino"]

# hmrc/vat-api 8ddd80d, self-assessment-individual-details-api b44eb4e, obligations-api f99e92d,
# individual-calculations-api 623977d, self-assessment-accounts-api 4.0, business-details-api 322cd36
VAT: Final = "application/vnd.hmrc.1.0+json"
DETAILS: Final = "application/vnd.hmrc.2.0+json"
OBLIGATIONS: Final = "application/vnd.hmrc.3.0+json"
CALCULATIONS: Final = "application/vnd.hmrc.8.0+json"
ACCOUNTS: Final = "application/vnd.hmrc.4.0+json"
COMPOSED: Final = "application/json"  # Chosen: the authority has no such endpoint, a tax service may

VALIDATE_HEADERS: Final = "/test/fraud-prevention-headers/validate"  # of the test service alone, in the version of VAT

_SEGMENT: Final = re.compile(r"[A-Za-z0-9#_-]{1,64}")
_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z]+)\}")


class Endpoint(NamedTuple):
    """One endpoint. `path` holds `{name}` for each parameter that stands in it, `query` names those that may follow.

    `needed` are parameters of the query that the authority does not do without. `fresh`: the answer is written to
    the books, so that one that was kept is not enough.
    """

    path: str
    accept: str
    query: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    fresh: bool = False

    @property
    def segments(self) -> tuple[str, ...]:
        """The parameters in the path."""
        return tuple(_PLACEHOLDER.findall(self.path))


ENDPOINTS: Final[Mapping[str, Endpoint]] = {
    "vat.getObligations": Endpoint("/organisations/vat/{vrn}/obligations", VAT, ("from", "to", "status")),
    "vat.getLiabilities": Endpoint("/organisations/vat/{vrn}/liabilities", VAT, ("from", "to"), ("from", "to")),
    "vat.getPayments": Endpoint("/organisations/vat/{vrn}/payments", VAT, ("from", "to"), ("from", "to")),
    "vat.getVatReturn": Endpoint("/organisations/vat/{vrn}/returns/{periodKey}", VAT),
    "itsaStatus.get": Endpoint("/individuals/person/itsa-status/{nino}/{taxYear}", DETAILS, ("futureYears", "history")),
    "itsaObligations.list": Endpoint(
        "/obligations/details/{nino}/income-and-expenditure",
        OBLIGATIONS,
        ("typeOfBusiness", "businessId", "fromDate", "toDate", "status"),
    ),
    "itsaObligations.list:final_declaration": Endpoint(
        "/obligations/details/{nino}/crystallisation", OBLIGATIONS, ("taxYear", "status")
    ),
    "itsaCalculations.list": Endpoint(
        "/individuals/calculations/{nino}/self-assessment/{taxYear}", CALCULATIONS, ("calculationType",)
    ),
    "itsaCalculations.get": Endpoint(
        "/individuals/calculations/{nino}/self-assessment/{taxYear}/{calculationId}", CALCULATIONS
    ),
    "accounts.balance": Endpoint(
        "/accounts/self-assessment/{nino}/balance-and-transactions",
        ACCOUNTS,
        ("onlyOpenItems", "fromDate", "toDate"),
    ),
    "businessDetails.list": Endpoint("/individuals/business/details/{nino}/list", DETAILS, fresh=True),
    "businessDetails.retrieve": Endpoint("/individuals/business/details/{nino}/{businessId}", DETAILS, fresh=True),
}
"""By operation. `accounts.balance` is part of a composed one, `businessDetails` are those of `syncTaxBusiness`."""


class Target(NamedTuple):
    """Where one request goes: path and query as they stand on the request line, and the media type to ask for."""

    path: str
    query: str
    accept: str
    fresh: bool = False

    @property
    def line(self) -> str:
        """Path and query together."""
        return f"{self.path}?{self.query}" if self.query else self.path


def endpoint_of(operation_id: str, values: Mapping[str, str]) -> Endpoint:
    """The authority's endpoint for an operation that has one."""
    if operation_id == "itsaObligations.list" and values.get("kind") == "final_declaration":
        return ENDPOINTS["itsaObligations.list:final_declaration"]
    return ENDPOINTS[operation_id]


def identity_of(operation_id: str) -> Identity:
    """Which number of the taxpayer the operation asks about."""
    return "vrn" if operation_id.startswith("vat.") else "nino"


def accept_of(operation_id: str, values: Mapping[str, str]) -> str:
    """The media type that the operation's answer has."""
    return endpoint_of(operation_id, values).accept if operation_id in ENDPOINTS else COMPOSED


def authority_target(endpoint: Endpoint, values: Mapping[str, str]) -> Target:
    """The request that `values` make of an endpoint. Raises `Problem` `validation_failed`."""
    errors = [
        FieldError(name, "required", "The tax authority needs this parameter.")
        for name in (*endpoint.segments, *endpoint.needed)
        if not values.get(name)
    ]
    errors += [
        FieldError(name, "invalid_format", "Expected 1 to 64 letters, digits or #, _ and -.")
        for name in endpoint.segments
        if values.get(name) and not _SEGMENT.fullmatch(values[name])
    ]
    if errors:
        raise invalid(*errors)
    path = _PLACEHOLDER.sub(lambda match: quote(values[match[1]], safe=""), endpoint.path)
    query = _query((name, values[name]) for name in endpoint.query if name in values)
    return Target(path, query, endpoint.accept, endpoint.fresh)


def forwarded_target(path: str, pairs: Iterable[tuple[str, str]], accept: str) -> Target:
    """The operation's own path, with the parameters of the caller in the caller's order."""
    return Target(path, _query(pairs), accept)


def _query(pairs: Iterable[tuple[str, str]]) -> str:
    return urlencode(list(pairs), quote_via=quote, safe="")
