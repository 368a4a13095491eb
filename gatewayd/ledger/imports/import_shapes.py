"""What runs of imports look like, whatever they bring (domain model E): responses, the row, and shared requests."""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from gatewayd.contract.pages import LongLimit, PageRequest, SyncRequest
from gatewayd.contract.wire import Amount, DateText, Id, Part, Request, Response, Timestamp
from gatewayd.statements.shapes import Column, Doubt, Format, IgnoredKind, Mapping, Meaning, Proposal, Supposed

ImportKind = Literal["bank", "broker"]
RunStatus = Literal["uploaded", "previewed", "applying", "applied", "reverting", "reverted", "failed"]
Stage = Literal["reading", "applying", "allocating", "reverting"]
Action = Literal["add", "duplicate", "replace", "refuse"]
RunSource = Literal["api", "command_line"]
REFUSED_SHOWN: Final = 500  # Chosen: refused lines that a run lists; all of them are counted
DUPLICATES_KEPT: Final = 10_000  # Chosen: so many can still be listed once the import is applied


_SEVERAL: Final = ("description", "fees", "taxes")
"""The fields of a mapping that name several columns."""


class ColumnMapping(Part, frozen=True, kw_only=True, omit_defaults=True):
    """How the columns of a CSV are read: each by its heading, or by its number from 0.

    `amount` is one signed column, or an unsigned one beside `direction`; else `paidIn` and `paidOut` are given. Columns
    from `quantity` on are of brokers' files: there the amount is what moved in cash, fees and taxes included.
    """

    delimiter: Annotated[str, Meta(min_length=1, max_length=1)] = ","
    encoding: str | None = None
    has_headings: bool = True
    header_row: Annotated[int, Meta(ge=0, le=1000, description="How many lines stand before the headings.")] = 0
    date: Column | None = None
    value_date: Column | None = None
    description: list[Column] = msgspec.field(default_factory=list)
    amount: Column | None = None
    paid_in: Column | None = None
    paid_out: Column | None = None
    balance: Column | None = None
    currency: Column | None = None
    reference: Column | None = None
    counterparty: Column | None = None
    counterparty_account: Column | None = None
    type: Column | None = None
    transaction_id: Column | None = None
    direction: Column | None = None
    status: Column | None = None
    fee: Column | None = None
    original_amount: Column | None = None
    original_currency: Column | None = None
    merchant_category_code: Column | None = None
    sort_code: Column | None = None
    account_number: Column | None = None
    account_name: Column | None = None
    date_format: Annotated[str, Meta(examples=["dd/mm/yyyy"])] | None = None
    decimal_comma: bool = False
    negate: Annotated[bool, Meta(description="Of cards: what was spent is positive.")] = False
    negate_balance: Annotated[
        bool | None, Meta(description="Of cards and loans: a positive balance is owed. As negate, unless it is given.")
    ] = None
    pence: Annotated[
        bool, Meta(description="Amounts are whole numbers of pence. Of a broker's file: prices are in pence.")
    ] = False
    quantity: Column | None = None
    price: Column | None = None
    price_currency: Column | None = None
    isin: Column | None = None
    sedol: Column | None = None
    symbol: Column | None = None
    instrument: Column | None = None
    fees: list[Column] = msgspec.field(default_factory=list)
    taxes: list[Column] = msgspec.field(default_factory=list)
    exchange_rate: Column | None = None
    ex_date: Column | None = None
    words: Annotated[
        dict[str, Meaning],
        Meta(
            description="What the broker's words for types mean, such as Staking Income; excluded: no transaction.",
            examples=[{"Staking Income": "interest", "Card Verification": "excluded"}],
        ),
    ] = msgspec.field(default_factory=dict)
    profile: str | None = None

    def as_told(self) -> Mapping:
        """As the reader of statements takes it."""
        values = msgspec.structs.asdict(self)
        values |= {name: tuple(values[name]) for name in _SEVERAL}
        if not values.pop("has_headings"):
            values["header_row"] = None
        return Mapping(**values)

    @classmethod
    def of(cls, mapping: Mapping) -> "ColumnMapping":
        """As the API shows it."""
        values = msgspec.structs.asdict(mapping)
        values |= {name: list(values[name]) for name in _SEVERAL}
        if mapping.header_row is None:
            values |= {"has_headings": False, "header_row": 0}
        return cls(**values)


class MappingDoubt(Response, frozen=True, kw_only=True):
    """What has to be settled: `choices` are values for `field` of the mapping, likeliest first."""

    field: str
    question: str
    choices: list[str]


class MappingProposal(Response, frozen=True, kw_only=True):
    """How a CSV that nobody knows could be read: its headings, its first rows, and what is unsure."""

    headings: list[str]
    rows: list[list[str]]
    mapping: ColumnMapping
    doubts: list[MappingDoubt]

    @classmethod
    def of(cls, proposal: Proposal) -> "MappingProposal":
        """As the API shows it."""
        return cls(
            headings=list(proposal.headings),
            rows=[list(row) for row in proposal.rows],
            mapping=ColumnMapping.of(proposal.mapping),
            doubts=[_doubt(doubt) for doubt in proposal.doubts],
        )


def _doubt(doubt: Doubt) -> MappingDoubt:
    return MappingDoubt(field=doubt.field, question=doubt.question, choices=list(doubt.choices))


class RefusedLine(Response, frozen=True, kw_only=True):
    """A line of the file that is not taken, and why. `line` counts from 1."""

    line: int
    reason: str


class SupposedReading(Response, frozen=True, kw_only=True):
    """What the file left open and how it was read: a field of its mapping, the value, and why."""

    field: str
    value: str
    reason: str

    @classmethod
    def of(cls, supposed: Supposed) -> "SupposedReading":
        """As the API shows it."""
        first, *rest = supposed.field.split("_")
        field = first + "".join(word.capitalize() for word in rest)
        return cls(field=field, value=supposed.value, reason=supposed.reason)


class IgnoredRows(Response, frozen=True, kw_only=True):
    """Rows of the file that are no transactions: what kind they are of, how many, and the line of the first."""

    kind: IgnoredKind
    rows: int
    first_line: int


class FileAccount(Part, omit_defaults=True, frozen=True, kw_only=True):
    """What a file says of its account; None: nothing. `institution_id` is the bank that follows from it."""

    name: str | None = None
    holder: str | None = None
    sort_code: str | None = None
    account_number: str | None = None
    iban: str | None = None
    bic: str | None = None
    institution_id: str | None = None


class OtherAccount(Response, frozen=True, kw_only=True):
    """An account of the file whose rows were left out: what the file calls it, numbers by their last four characters.

    `accountId` is the account of the organization that has these numbers, or is called so; null: none, or not only one.
    """

    name: str | None
    sort_code: str | None
    account_number: str | None
    iban: str | None
    currency: str | None
    rows: int
    account_id: Id | None


class KeptAllocation(Response, frozen=True, kw_only=True):
    """An allocation that an undoing cannot take back, and why."""

    allocation_id: Id
    bank_transaction_id: Id
    reason: str


class Undoing(Response, frozen=True, kw_only=True):
    """What an undoing takes out: transactions, and their allocations; `putBack` are those it makes what they were.

    `kept` are the first hundred allocations that don't go with `removeAllocations` either: the undoing waits for them.
    """

    transactions: int
    put_back: int
    allocations: int
    kept: list[KeptAllocation]


class ImportRun(Response, frozen=True, kw_only=True):
    """A statement file and what became of it.

    Each of its `rows` is one of `added`, `duplicates`, `replaced`, `ignoredRows` and `refusedRows`: of a preview what
    would become of them. `refused` lists the first of the refused ones, `ignored` those that are no transactions, or
    another account's, of which `otherAccounts` names the first hundred. `supposed` is what the file leaves open and how
    it was read; of a broker's `fxRate`, by what rows of a currency are converted that have no rate of their own.
    `balanced` is null where the file does not tell. One that waits for a mapping is `uploaded` with a `proposal`;
    `error` says why one failed. `firstImportedAt` is told where the same file came again: nothing was added by that,
    and all that it brought is among the duplicates.
    """

    id: Id
    kind: ImportKind
    source: RunSource
    account_id: Id
    file_name: str
    size_bytes: int
    sha256: str
    format: Format | None
    profile: str | None
    mapping: ColumnMapping | None
    supposed: list[SupposedReading]
    status: RunStatus
    rows: int
    added: int
    duplicates: int
    replaced: int
    refused_rows: int
    refused: list[RefusedLine]
    ignored_rows: int
    ignored: list[IgnoredRows]
    other_accounts: list[OtherAccount]
    currency: str
    from_date: DateText | None
    to_date: DateText | None
    opening_balance: Amount | None
    closing_balance: Amount | None
    balanced: bool | None
    error: str | None
    proposal: MappingProposal | None
    applied_at: Timestamp | None
    reverted_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp
    version: int
    first_imported_at: Timestamp | None
    undoing: Undoing | None


class ImportRunRow(ImportRun, frozen=True, kw_only=True):
    """A run as it is stored.

    `stage` is what a process works at, None: nobody does. `moved_to` is the position up to which its staged rows were
    moved, None: no rows are staged any more. `makes_account`: its account was made for it. `overrides_closing`: it may
    bring rows into a period that is being closed. `file_account` is what the file says of the account, `gave` are the
    fields of the account that it was the first to say.
    """

    stage: Stage | None
    moved_to: int | None
    makes_account: bool
    overrides_closing: bool
    file_account: FileAccount | None
    gave: list[str]


class ListImports(SyncRequest, frozen=True, kw_only=True):
    """Filters of the list."""

    account_id: Id | None = None
    status: RunStatus | None = None


class GetImport(Request, frozen=True, kw_only=True):
    """Which run."""

    import_id: Id


class ListImportRows(PageRequest, frozen=True, kw_only=True, omit_defaults=True):
    """Filters of the list."""

    import_id: Id
    action: Action | None = None
    limit: LongLimit = 50


FileName = Annotated[
    str, Meta(min_length=1, max_length=255, description="What the file is called, for people.", examples=["march.csv"])
]
MappingText = Annotated[
    str,
    Meta(
        max_length=4000,
        description="How the columns of a CSV are read: a ColumnMapping as JSON. It is remembered for the account, and "
        "for files with the same headings.",
        examples=['{"date":"Date","amount":"Amount","description":["Details"],"dateFormat":"dd/mm/yyyy"}'],
    ),
]


class ApplyImport(Request, frozen=True, kw_only=True):
    """Which preview."""

    import_id: Id


class UndoImport(Request, frozen=True, kw_only=True):
    """Which import."""

    import_id: Id
