"""The banks that people in the United Kingdom have accounts at, and how each gives its statements (Domain A6, B6).

A table in the program, the same for everybody; an account names one of them by id. Names and codes are those of the
registry of schwifty 2026.10.1 on 22 November 2026: the entity that serves customers, where a group has several. What
has no code there is left without.

Which of them an account is at follows from what its files or its owner say of it. Ranges of sort codes are those that
the clearing banks have held throughout, and single codes of younger banks, as each of them gives them to its customers;
the whole directory (EISCD) is licensed by Pay.UK and not free. Left out is what several banks share: 12 (Bank of
Scotland and others), 23 (accounts at Barclays of other firms, but for the two codes below), 77 (Lloyds and TSB), and
60-83 to 60-99 (firms that clear through NatWest).
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

_LENGTH: Final = 6
_GB: Final = "GB"
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


class Range(NamedTuple):
    """Sort codes of one bank, the first and the last included."""

    first: str
    last: str
    bank_id: str


RANGES: Final = (
    Range("010000", "019999", "inst_natwest"),
    Range("040003", "040004", "inst_monzo"),
    Range("040075", "040075", "inst_revolut"),
    Range("040605", "040605", "inst_tide"),
    Range("042909", "042909", "inst_revolut"),
    Range("050000", "059999", "inst_virgin_money"),  # Yorkshire Bank
    Range("070000", "074999", "inst_nationwide"),
    Range("089000", "089999", "inst_cooperative"),
    Range("090000", "091999", "inst_santander"),
    Range("110000", "117999", "inst_halifax"),
    Range("160000", "163899", "inst_rbs"),
    Range("180000", "180099", "inst_coutts"),
    Range("200000", "209999", "inst_barclays"),
    Range("230580", "230580", "inst_metro"),
    Range("231470", "231470", "inst_wise"),
    Range("300000", "399999", "inst_lloyds"),
    Range("400000", "404699", "inst_hsbc"),
    Range("404700", "404799", "inst_first_direct"),
    Range("404800", "499999", "inst_hsbc"),
    Range("500000", "608299", "inst_natwest"),
    Range("608371", "608371", "inst_starling"),
    Range("720000", "729999", "inst_santander"),  # Alliance & Leicester
    Range("800000", "809999", "inst_bank_of_scotland"),
    Range("820000", "829999", "inst_virgin_money"),  # Clydesdale Bank
    Range("830000", "839999", "inst_rbs"),
    Range("870000", "879999", "inst_tsb"),
)

_BY_CODE: Final[Mapping[str, str]] = MappingProxyType(
    {bank.bic[:4]: bank.id for bank in BANKS if bank.bic is not None and bank.id != "inst_tide"}
    | {"BARC": "inst_barclays", "MIDL": "inst_hsbc"}  # before retail banks stood apart, and in IBANs still
)
"""Banks by the four letters that begin a BIC and stand in a British IBAN; at ClearBank are accounts of many firms."""


class Institution(Response, frozen=True, kw_only=True):
    """A bank."""

    id: Id
    name: str
    """What people call the bank."""
    bic: str | None
    """The BIC of the company that serves customers, of 8 characters. Null: it has none of its own."""
    countries: list[str]
    """Where it has customers: country codes, so far `GB` alone."""
    logo_url: str | None
    """Always null so far: no logos are kept."""
    provider: Provider
    """How its data come in. So far all have `file`: statements are imported."""
    import_formats: list[str]
    """Which files of it are read: `ofx`, `qif`, `camt053`, `mt940`, `csv`, and `csv:` with the profile of its own that
    is known."""
    transaction_days: int | None
    """How many days back transactions can be had. Null: as far as the bank lets a file go back."""
    connected: bool
    """True where the organization has an account there that is not closed."""
    account_ids: list[Id]
    """The organization's accounts there that are not closed, at most 1,000 over all banks."""
    status: InstitutionStatus
    """Whether its data can be had. So far always `available`, for files can be imported at any time."""


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
    shown = [_shown(bank, accounts.get(bank.id, [])) for bank in _banks_matching(request)]
    wanted = request.connected
    institutions = [institution for institution in shown if wanted is None or institution.connected is wanted]
    return listing_of(request, institutions, lambda institution: _place(institution.name))


def _place(name: str) -> str:
    """By what a name is sorted in the list."""
    return name.casefold().removeprefix("the ")


def _banks_matching(request: ListInstitutions) -> Iterator[Bank]:
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


# -- which bank an account is at


def bank_of_sort_code(sort_code: str) -> str | None:
    """The bank of six digits; None where no range holds them."""
    if len(sort_code) != _LENGTH:
        return None
    return next((codes.bank_id for codes in RANGES if codes.first <= sort_code <= codes.last), None)


def bank_of(*, sort_code: str | None, iban: str | None, bic: str | None) -> str | None:
    """The bank of an account by its numbers; None where none of them tells.

    The letters in a BIC or an IBAN go before the range of the sort code, unless that is of a bank without a BIC.
    """
    british = iban if iban is not None and iban.startswith(_GB) and len(iban) >= len("GB00BANKSSSSSS") else None
    sort_code = sort_code or (british[8:14] if british is not None else None)
    by_range = None if sort_code is None else bank_of_sort_code(sort_code)
    code = bic[:4] if bic is not None and bic[4:6] == _GB else (british[4:8] if british is not None else None)
    by_code = None if code is None else _BY_CODE.get(code)
    if by_code is None or (by_range is not None and BY_ID[by_range].bic is None):
        return by_range
    return by_code


def bank_called(name: str | None, profile: str | None) -> str | None:
    """The bank by the name that a file gives it, or by the profile of its CSV; None where none or several fit."""
    named = [bank.id for bank in BANKS if name is not None and _short(name) == _short(bank.name)]
    of_profile = [bank.id for bank in BANKS if profile is not None and profile in bank.profiles]
    bank_ids = named or of_profile
    return bank_ids[0] if len(bank_ids) == 1 else None


def _short(name: str) -> str:
    """A name without its usual endings: `HSBC` of HSBC UK, `Lloyds` of Lloyds Bank. In lower case."""
    return name.strip().casefold().removesuffix(" plc").removesuffix(" uk").removesuffix(" bank")


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
