"""What bank accounts look like (domain model B6): requests, responses, and the row where it differs."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from gatewayd.contract.pages import SyncRequest
from gatewayd.contract.updates import updates
from gatewayd.contract.wire import (
    Amount,
    AmountText,
    Currency,
    DateText,
    ExternalId,
    Id,
    Name,
    Part,
    Request,
    Response,
    Timestamp,
    Version,
)

AccountType = Literal["current", "savings", "card", "loan", "mortgage", "other"]
Usage = Literal["business", "personal"]
AccountStatus = Literal["active", "closed"]
BalanceType = Literal["closing_booked", "available", "interim", "expected"]
SortCode = Annotated[
    str,
    Meta(
        pattern=r"^[0-9]{2}-?[0-9]{2}-?[0-9]{2}$",
        extra={"form": "six digits, with or without dashes"},
        description="Six digits; dashes go.",
        examples=["204500"],
    ),
]
AccountNumber = Annotated[
    str,
    Meta(
        pattern=r"^[0-9A-Za-z*• -]{4,34}$",
        extra={"form": "4 to 34 letters, digits, spaces, dashes or asterisks"},
        description="As the bank writes it; of a card its last four digits will do. Spaces and dashes go.",
        examples=["31926819"],
    ),
]
Iban = Annotated[str, Meta(max_length=42, description="Checked by its check digits; spaces go.")]
Bic = Annotated[
    str,
    Meta(
        pattern=r"^[A-Z0-9]{8}([A-Z0-9]{3})?$",
        extra={"form": "a BIC of 8 or 11 capital letters and digits"},
        description="The bank's BIC, of 8 or 11 characters.",
        examples=["BUKBGB22"],
    ),
]
BusinessIds = Annotated[list[Id], Meta(max_length=50)]
Full = Annotated[bool, Meta(description="The whole accountNumber, not only its last four characters.")]


class AccountIdentifiers(Response, frozen=True, kw_only=True):
    """By what banks know the account."""

    sort_code: str | None
    """Six digits. Null: not known, or the account has none."""
    account_number: str | None
    """Without spaces; its last four characters alone, the others as asterisks, unless `full` asks for all. Null: not
    known."""
    iban: str | None
    """Without spaces, its last four characters alone unless `full` asks for all. Null: not known."""
    bic: str | None
    """The bank's BIC, of 8 or 11 characters. Null: not known."""


class AccountBalance(Response, frozen=True, kw_only=True):
    """A balance that the bank told, at the end of a day."""

    type: BalanceType
    """`closing_booked`: what was booked; `available`: what could be spent. `interim` and `expected` come from no
    statement so far."""
    amount: AmountText
    """In the account's currency; negative where the account is overdrawn or something is owed."""
    as_of: DateText
    """The day at whose end it was so."""


class DateRange(Response, frozen=True, kw_only=True):
    """Days, the first and the last included."""

    from_date: DateText
    """The first day."""
    to_date: DateText
    """The last day, included."""


class Coverage(Response, frozen=True, kw_only=True):
    """The days that statements cover which add up, and those between balances that the lines agree with."""

    from_date: DateText | None
    """The first day that is covered. Null: none is."""
    to_date: DateText | None
    """The last day that is covered. Null: none is."""
    gaps: list[DateRange]
    """Days between these two that nothing covers, oldest first."""


class _Shared(Response, frozen=True, kw_only=True):
    id: Id
    external_id: str | None
    legal_entity_id: Id | None
    """Whose account it is. Null: nobody said."""
    institution_id: Id | None
    """The bank, of `banking.listInstitutions`; where none is named, the one that the numbers tell, else `inst_other`.
    Null does not occur."""
    name: str
    """What the account is called in the books."""
    nickname: str | None
    """A second name, by which files may call the account too. Null: none."""
    holder_name: str | None
    """In whose name the bank has it, as a person or a statement says. Null: not known."""
    type: AccountType
    """What kind of account it is. Of a `card`, a `loan` or a `mortgage` a file may have what is owed as a positive
    balance."""
    usage: Usage
    """`business`: it counts for the periods of its legal entity; `personal`: only where a business names it."""
    currency: str
    """The currency of the balances, the limit and the transactions."""
    status: AccountStatus
    """`closed`: it keeps its transactions and takes no imports."""
    overdraft_limit: Amount | None
    """How far it may be overdrawn, 0 or more. Null: nobody said."""
    business_ids: list[Id]
    """The businesses whose money it holds, all of one legal entity. Where it is one alone, income and expenses are of
    that one by default."""
    balances: list[AccountBalance]
    """What the bank told last, by its statements. Empty: no statement tells any."""
    coverage: Coverage
    """Which days statements cover, and which they do not."""
    last_import_id: Id | None
    """Of the imports that are applied, the latest. Null: none is."""
    last_import_at: Timestamp | None
    """When that import was applied. Null: none is."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class BankAccount(_Shared, frozen=True, kw_only=True):
    """A bank account, a card or a loan, whose statements are kept."""

    institution_name: str | None
    """The bank's name; of `inst_other`, `Other bank`. Null: the bank is not in the list any more."""
    identifiers: AccountIdentifiers
    """By what banks know the account."""


class BankAccountRow(_Shared, frozen=True, kw_only=True):
    """An account as it is stored. `csv_mapping` is how its files were read last.

    `statement_name` is what its files call it, where they give no number: a product, or a list of a QIF.
    """

    sort_code: str | None
    account_number: str | None
    iban: str | None
    bic: str | None
    statement_name: str | None
    csv_mapping: str | None


class ListAccounts(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    legal_entity_id: Id | None = None
    institution_id: Id | None = None
    status: AccountStatus | None = None
    external_id: ExternalId | None = None


class GetAccountDetails(Request, frozen=True, kw_only=True):
    """Which account."""

    account_id: Id
    """Which bank account."""
    full: Full = False


class GivenIdentifiers(Part, frozen=True, kw_only=True):
    """By what banks know the account, as it is read: the same fields beside it do as well.

    What is shown in part, and comes back so, stays as it is.
    """

    sort_code: SortCode | UnsetType | None = UNSET
    account_number: AccountNumber | UnsetType | None = UNSET
    iban: Iban | UnsetType | None = UNSET
    bic: Bic | UnsetType | None = UNSET


class CreateAccount(Request, frozen=True, kw_only=True):
    """A new account."""

    name: Name
    type: AccountType = "current"
    usage: Usage = "business"
    currency: Currency = "GBP"
    legal_entity_id: Id | None = None
    """Whose account it is; by default the legal entity of its businesses."""
    business_ids: BusinessIds | None = None
    institution_id: Id | None = None
    nickname: Name | None = None
    holder_name: Name | None = None
    sort_code: SortCode | None = None
    account_number: AccountNumber | None = None
    iban: Iban | None = None
    bic: Bic | None = None
    identifiers: GivenIdentifiers | None = None
    """By what banks know the account, as it is read; the fields of the same names beside it do as well."""
    overdraft_limit: AmountText | None = None
    external_id: ExternalId | None = None


@updates(CreateAccount, of=BankAccount)
class UpdateAccount(Request, frozen=True, kw_only=True):
    """The fields to change. An absent field stays, null clears.

    The currency is fixed once there are transactions, and the legal entity once any of them is allocated.
    """

    account_id: Id
    """The bank account to change."""
    expected_version: Version | None = None
    status: AccountStatus | UnsetType = UNSET
    sort_code: SortCode | UnsetType | None = UNSET
    account_number: AccountNumber | UnsetType | None = UNSET
    iban: Iban | UnsetType | None = UNSET
    bic: Bic | UnsetType | None = UNSET
    identifiers: GivenIdentifiers | UnsetType = UNSET
