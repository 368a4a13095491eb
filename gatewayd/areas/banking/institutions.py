"""The banks that people in the United Kingdom have accounts at, and how each gives its statements (Domain A6, B6).

A table in the program, the same for everybody; an account names one of them by id. Names and codes are those of the
registry of schwifty 2026.10.1 on 22 November 2026: the entity that serves customers, where a group has several. What
has no code there is left without.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Final, Literal, NamedTuple

from msgspec import Meta

from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import Listing, Page, PageRequest, listing_of
from gatewayd.contract.wire import CountryCode, Id, Response, Search
from gatewayd.store import ReadTx

Provider = Literal["file", "enable_banking", "gocardless", "plaid", "manual"]
InstitutionStatus = Literal["available", "degraded", "retired"]
MAX_ACCOUNTS: Final = 1_000  # Chosen: of one organization, that the list names
FORMATS: Final = ("ofx", "qif", "camt053", "mt940", "csv")
"""Read from whichever bank gives them, a CSV with its columns explained."""

_SELECT_CONNECTED = """
SELECT institution_id, id FROM bank_accounts
WHERE org_id = :org_id AND institution_id IS NOT NULL AND status <> 'closed' ORDER BY id LIMIT :count
"""


OTHER: Final = "inst_other"
"""Where accounts are whose bank is not known, or not in the table."""


class Bank(NamedTuple):
    """One bank. `profiles` are those of its CSV files that are known."""

    id: str
    name: str
    bic: str | None
    profiles: tuple[str, ...] = ()


BANKS: Final = (
    Bank("inst_amex", "American Express", "AESUGB21", ("amex",)),
    Bank("inst_atom", "Atom Bank", "ATMBGB22"),
    Bank("inst_bank_of_scotland", "Bank of Scotland", "BOFSGB21", ("lloyds",)),
    Bank("inst_barclays", "Barclays", "BUKBGB22", ("barclays", "barclaycard_business")),
    Bank("inst_cooperative", "The Co-operative Bank", "CPBKGB22", ("cooperative",)),
    Bank("inst_coutts", "Coutts", "COUTGB22"),
    Bank("inst_first_direct", "first direct", None),
    Bank("inst_halifax", "Halifax", "HLFXGB21", ("lloyds",)),
    Bank("inst_hsbc", "HSBC UK", "HBUKGB4B", ("hsbc",)),
    Bank("inst_lloyds", "Lloyds Bank", "LOYDGB2L", ("lloyds", "lloyds_card")),
    Bank("inst_metro", "Metro Bank", "MYMBGB2L", ("metro",)),
    Bank("inst_monzo", "Monzo", "MONZGB2L", ("monzo", "monzo_2018")),
    Bank("inst_nationwide", "Nationwide Building Society", "NAIAGB21", ("nationwide",)),
    Bank("inst_natwest", "NatWest", "NWBKGB2L", ("natwest",)),
    Bank(OTHER, "Other bank", None),
    Bank("inst_paypal", "PayPal", None, ("paypal",)),
    Bank("inst_revolut", "Revolut", "REVOGB21", ("revolut",)),
    Bank("inst_rbs", "Royal Bank of Scotland", "RBOSGB2L", ("natwest",)),
    Bank("inst_santander", "Santander UK", "ABBYGB2L"),
    Bank("inst_starling", "Starling Bank", "SRLGGB3L", ("starling",)),
    Bank("inst_stripe", "Stripe", None, ("stripe", "stripe_report")),
    Bank("inst_tide", "Tide", "CLRBGB22"),  # accounts at ClearBank
    Bank("inst_tsb", "TSB Bank", "TSBSGB2A", ("lloyds",)),
    Bank("inst_virgin_money", "Virgin Money", "CLYDGB2S"),
    Bank("inst_wise", "Wise", "TRWIGB22", ("wise",)),
)
BY_ID: Final[Mapping[str, Bank]] = MappingProxyType({bank.id: bank for bank in BANKS})


class Institution(Response, frozen=True, kw_only=True):
    """A bank. `accountIds` are the organization's open accounts there."""

    id: Id
    name: str
    bic: str | None
    countries: list[str]
    logo_url: str | None
    provider: Provider
    import_formats: list[str]
    transaction_days: int | None
    connected: bool
    account_ids: list[Id]
    status: InstitutionStatus


class ListInstitutions(PageRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    country: Annotated[CountryCode, Meta(description="Where it has customers.")] = "GB"
    q: Search | None = None
    connected: Annotated[bool, Meta(description="Those where the organization has an account.")] | None = None


def list_institutions(tx: ReadTx, caller: Caller, request: ListInstitutions) -> Listing[Institution]:
    """List banks, by name.

    They are the same for everybody but for `connected` and `accountIds`. Each takes statements as files. Accounts whose
    bank is none of them, or not known, are of `inst_other`.
    """
    accounts: dict[str, list[str]] = {}
    for institution_id, account_id in tx.rows(_SELECT_CONNECTED, count=MAX_ACCOUNTS):
        accounts.setdefault(institution_id, []).append(account_id)
    shown = [_shown(bank, accounts.get(bank.id, [])) for bank in _found(request)]
    wanted = request.connected
    found = [one for one in shown if wanted is None or one.connected is wanted]
    return listing_of(request, found, lambda one: _place(one.name))


def _place(name: str) -> str:
    """Where a name stands in the list."""
    return name.casefold().removeprefix("the ")


def _found(request: ListInstitutions) -> Iterator[Bank]:
    if request.country != "GB":
        return
    text = "" if request.q is None else request.q.casefold()
    yield from (bank for bank in BANKS if text in bank.name.casefold() or text == (bank.bic or "").casefold())


def _shown(bank: Bank, account_ids: list[str]) -> Institution:
    return Institution(
        id=bank.id,
        name=bank.name,
        bic=bank.bic,
        countries=["GB"],
        logo_url=None,
        provider="file",
        import_formats=[*FORMATS, *(f"csv:{profile}" for profile in bank.profiles)],
        transaction_days=None,  # a file goes back as far as the bank lets it
        connected=bool(account_ids),
        account_ids=account_ids,
        status="available",
    )


OPERATIONS = (
    Operation(
        id="banking.listInstitutions",
        kind="read",
        method="GET",
        path="/institutions",
        scopes=("banking:read",),
        request=ListInstitutions,
        response=Page[Institution],
        handler=list_institutions,
        example={"q": "bank", "country": "GB"},
    ),
)
