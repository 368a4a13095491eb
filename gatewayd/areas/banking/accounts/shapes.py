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
AccountStatus = Literal["active", "closed", "expired_consent"]
GivenStatus = Literal["active", "closed"]
"""The states that a request may name: a consent is the business of whoever connects accounts."""
BalanceType = Literal["closing_booked", "available", "interim", "expected"]
SortCode = Annotated[
    str,
    Meta(pattern=r"^[0-9]{2}-?[0-9]{2}-?[0-9]{2}$", description="Six digits; dashes go.", examples=["204500"]),
]
AccountNumber = Annotated[
    str,
    Meta(
        pattern=r"^[0-9A-Za-z*• -]{4,34}$",
        description="As the bank writes it; of a card its last four digits will do. Spaces and dashes go.",
        examples=["31926819"],
    ),
]
Iban = Annotated[str, Meta(max_length=42, description="Checked by its check digits; spaces go.")]
Bic = Annotated[str, Meta(pattern=r"^[A-Z0-9]{8}([A-Z0-9]{3})?$", examples=["BUKBGB22"])]
BusinessIds = Annotated[list[Id], Meta(max_length=50)]
Full = Annotated[bool, Meta(description="The whole accountNumber, not only its last four characters.")]


class AccountIdentifiers(Response, frozen=True, kw_only=True):
    """By what banks know the account. `accountNumber` shows its last four characters, unless all is asked for."""

    sort_code: str | None
    account_number: str | None
    iban: str | None
    bic: str | None


class AccountBalance(Response, frozen=True, kw_only=True):
    """A balance that the bank told, at the end of a day."""

    type: BalanceType
    amount: AmountText
    as_of: DateText


class DateRange(Response, frozen=True, kw_only=True):
    """Days, the first and the last included."""

    from_date: DateText
    to_date: DateText


class Coverage(Response, frozen=True, kw_only=True):
    """The days that statements hold, from the first to the last, and those between that none does."""

    from_date: DateText | None
    to_date: DateText | None
    gaps: list[DateRange]


class _Shared(Response, frozen=True, kw_only=True):
    id: Id
    external_id: str | None
    legal_entity_id: Id | None
    institution_id: Id | None
    name: str
    nickname: str | None
    holder_name: str | None
    type: AccountType
    usage: Usage
    currency: str
    status: AccountStatus
    overdraft_limit: Amount | None
    business_ids: list[Id]
    balances: list[AccountBalance]
    coverage: Coverage
    last_import_id: Id | None
    last_import_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class BankAccount(_Shared, frozen=True, kw_only=True):
    """A bank account, a card or a loan, whose statements are kept."""

    institution_name: str | None
    identifiers: AccountIdentifiers


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
    """A new account. Its legal entity is that of its businesses, where it names none."""

    name: Name
    type: AccountType = "current"
    usage: Usage = "business"
    currency: Currency = "GBP"
    legal_entity_id: Id | None = None
    business_ids: BusinessIds | None = None
    institution_id: Id | None = None
    nickname: Name | None = None
    holder_name: Name | None = None
    sort_code: SortCode | None = None
    account_number: AccountNumber | None = None
    iban: Iban | None = None
    bic: Bic | None = None
    identifiers: GivenIdentifiers | None = None
    overdraft_limit: AmountText | None = None
    external_id: ExternalId | None = None


@updates(CreateAccount, of=BankAccount)
class UpdateAccount(Request, frozen=True, kw_only=True):
    """The fields to change. An absent field stays, null clears.

    The currency is fixed once there are transactions, and the legal entity once any of them is allocated.
    """

    account_id: Id
    expected_version: Version | None = None
    status: GivenStatus | UnsetType = UNSET
    sort_code: SortCode | UnsetType | None = UNSET
    account_number: AccountNumber | UnsetType | None = UNSET
    iban: Iban | UnsetType | None = UNSET
    bic: Bic | UnsetType | None = UNSET
    identifiers: GivenIdentifiers | UnsetType = UNSET
