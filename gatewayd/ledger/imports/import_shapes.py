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
    """How the columns of a CSV are read: each by its heading, in any letter case, or by its number from 0."""

    delimiter: Annotated[str, Meta(min_length=1, max_length=1)] = ","
    """The character between columns."""
    encoding: str | None = None
    """The character encoding of the file, such as `utf-8` or `cp1252`. Null: found out by content, of each file
    anew."""
    has_headings: bool = True
    """Whether a row of headings stands before the rows."""
    header_row: Annotated[int, Meta(ge=0, le=1000)] = 0
    """How many lines stand before the headings."""
    date: Column | None = None
    """The day of the transaction; the one column that there has to be, beside what was moved."""
    value_date: Column | None = None
    """The value date; of a broker's file the day of settlement."""
    description: list[Column] = msgspec.field(default_factory=list)
    """What the transaction is described by; several columns are joined by a space."""
    amount: Column | None = None
    """What was moved: with a sign, or without one beside `direction`. Left out: `paidIn` and `paidOut` have it. Of a
    broker's file it is what moved in cash, fees and taxes included."""
    paid_in: Column | None = None
    """What came in, where what went out has a column of its own."""
    paid_out: Column | None = None
    """What went out, with or without a sign."""
    balance: Column | None = None
    """The balance after the transaction, by which the rows are checked."""
    currency: Column | None = None
    """The currency of the amount; `GBX` and `GBp` are pence. Left out: the account's."""
    reference: Column | None = None
    """The reference of the payment."""
    counterparty: Column | None = None
    """Who paid or was paid."""
    counterparty_account: Column | None = None
    """The account of who paid or was paid."""
    type: Column | None = None
    """The word for what kind of transaction it is, such as `DD` or `Buy`."""
    transaction_id: Column | None = None
    """What the bank or broker calls the transaction by, which no other has."""
    direction: Column | None = None
    """Whether money came in or went out, such as `CR` and `DR`; of a broker's file whether it was bought or sold."""
    status: Column | None = None
    """Whether it is booked or pending; what was reverted or declined is refused."""
    fee: Column | None = None
    """What the bank took besides the amount: it is subtracted from it."""
    original_amount: Column | None = None
    """What was paid in another currency, before it was converted."""
    original_currency: Column | None = None
    """The currency of the original amount."""
    merchant_category_code: Column | None = None
    """The code of four digits for what a card paid for."""
    sort_code: Column | None = None
    """The sort code of the account that the row is of."""
    account_number: Column | None = None
    """The number of the account that the row is of."""
    account_name: Column | None = None
    """The name of the account that the row is of."""
    date_format: Annotated[str, Meta(examples=["dd/mm/yyyy"])] | None = None
    """In which order day, month and year stand. Null: found out by content."""
    decimal_comma: bool = False
    """Whether amounts have a comma before their decimals, as `1.234,56`."""
    negate: bool = False
    """Whether what was spent is positive, as cards have it."""
    negate_balance: bool | None = None
    """Whether a positive balance is owed, as of cards and loans. Null: as `negate`."""
    pence: bool = False
    """Whether amounts are whole numbers of pence; of a broker's file, whether prices are in pence."""
    quantity: Column | None = None
    """Of a broker's file, how many units."""
    price: Column | None = None
    """Of a broker's file, the price of one unit."""
    price_currency: Column | None = None
    """Of a broker's file, the currency of the price. Left out: that of the amount."""
    isin: Column | None = None
    """Of a broker's file, the ISIN of the instrument."""
    sedol: Column | None = None
    """Of a broker's file, the SEDOL of the instrument."""
    symbol: Column | None = None
    """Of a broker's file, the ticker of the instrument."""
    instrument: Column | None = None
    """Of a broker's file, the name of the instrument."""
    fees: list[Column] = msgspec.field(default_factory=list)
    """Of a broker's file, commission and other charges; several columns are added up."""
    taxes: list[Column] = msgspec.field(default_factory=list)
    """Of a broker's file, stamp duty, levies and what was withheld; several columns are added up."""
    exchange_rate: Column | None = None
    """Of a broker's file, how much of the price's currency is 1 of the amount's."""
    ex_date: Column | None = None
    """Of a broker's file, the first day on which a buyer no longer gets a dividend."""
    words: Annotated[
        dict[str, Meaning],
        Meta(examples=[{"Staking Income": "interest", "Card Verification": "excluded"}]),
    ] = msgspec.field(default_factory=dict)
    """What the broker's words in `type` mean; `excluded`: such a row is no transaction."""
    profile: str | None = None
    """The bank's or broker's export, known here by this name, whose columns these are. Null: it is none of these."""

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


_WIRE_NAMES: Final = dict(zip(ColumnMapping.__struct_fields__, ColumnMapping.__struct_encode_fields__, strict=True))
"""What a request calls the fields of a mapping."""


class MappingDoubt(Response, frozen=True, kw_only=True):
    """What has to be settled before a file can be read."""

    field: Annotated[str, Meta(examples=["dateFormat"])]
    """The member of the mapping that is in doubt; `columns` means all of them together."""
    question: str
    """What is asked, for people."""
    choices: list[str]
    """Values for it, likeliest first; empty where any may be right."""

    def __post_init__(self) -> None:
        # runs of before have the names of the reader's fields, such as date_format
        msgspec.structs.force_setattr(self, "field", _WIRE_NAMES.get(self.field, self.field))


class MappingProposal(Response, frozen=True, kw_only=True):
    """How a CSV that nobody knows could be read."""

    headings: list[str]
    """The headings of the file; empty where it has none."""
    rows: list[list[str]]
    """The first rows of the file, 20 at most, cell by cell."""
    mapping: ColumnMapping
    """How the file could be read, as far as it is known."""
    doubts: list[MappingDoubt]
    """What is unsure and has to be settled with a `mapping`."""

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
    """A line of the file that is not taken, and why."""

    line: int
    """The line of the file where it begins, from 1; of OFX and XML the number of its element."""
    reason: str
    """Why it is not taken, for people."""


class SupposedReading(Response, frozen=True, kw_only=True):
    """What the file left open and how it was read."""

    field: str
    """What of the mapping was open; of a broker's file also `fxRate`, what rows without a rate of their own are
    converted by, and `transactionId`, rows that differ from what is there with the same id."""
    value: str
    """What it was taken to be; of `fxRate` the two currencies, such as `USD/GBP`."""
    reason: str
    """Why, for people."""

    @classmethod
    def of(cls, supposed: Supposed) -> "SupposedReading":
        """As the API shows it."""
        field = _WIRE_NAMES.get(supposed.field, supposed.field)
        return cls(field=field, value=supposed.value, reason=supposed.reason)


class IgnoredRows(Response, frozen=True, kw_only=True):
    """Rows of the file that are no transactions."""

    kind: IgnoredKind
    """What they are: a `total`, a `balance`, the headings once more (`heading`), a transaction of investments in a
    bank's file, an item of another `list`, a `notice` that a document was made, the other half of a split, what the
    mapping's words say is none (`excluded`), or a row of another account."""
    rows: int
    """How many there are."""
    first_line: int
    """The line of the first of them, counted as in `refused`."""


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
    """An account of the file whose rows were left out."""

    name: str | None
    """What the file calls the account. Null: it has no name there."""
    sort_code: str | None
    """Its sort code. Null: the file has none."""
    account_number: str | None
    """Its number, all but the last four characters masked. Null: the file has none."""
    iban: str | None
    """Its IBAN, all but the last four characters masked. Null: the file has none."""
    currency: str | None
    """Its currency. Null: the file has none."""
    rows: int
    """How many rows of the file are of it."""
    account_id: Id | None
    """The account of the organization that has these numbers, or else is called so in files. Null: none, or more than
    one."""


class KeptAllocation(Response, frozen=True, kw_only=True):
    """An allocation that an undoing cannot take back, and why."""

    allocation_id: Id
    """The allocation that stays."""
    bank_transaction_id: Id
    """The bank transaction that is allocated."""
    reason: str
    """Why it cannot be taken back, for people."""


class Undoing(Response, frozen=True, kw_only=True):
    """What an undoing takes out."""

    transactions: int
    """How many transactions it takes out."""
    put_back: int
    """How many transactions it makes what they were before the import replaced them."""
    allocations: int
    """How many allocations of these transactions there are, which go with `removeAllocations`; no more than 2,001 are
    counted."""
    kept: list[KeptAllocation]
    """The first 100 allocations that do not go with `removeAllocations` either: the undoing waits for them."""


class ImportRun(Response, frozen=True, kw_only=True):
    """A file that was imported and what became of it."""

    id: Id
    kind: ImportKind
    """Whose file it is: a `bank`'s or a `broker`'s."""
    source: RunSource
    """Where it was sent from: by the `api` or the `command_line`."""
    account_id: Id
    """The account that it was imported into."""
    file_name: str
    """What the file is called, for people."""
    size_bytes: int
    """How long the file is, in bytes."""
    sha256: str
    """The SHA-256 of the file's bytes, in hexadecimal: the same file again adds nothing."""
    format: Format | None
    """What the file was read as. Null: it is not read yet, or could not be."""
    profile: str | None
    """The export of a bank or broker that the file was known as. Null: as none."""
    mapping: ColumnMapping | None
    """How its columns were read. Null: it has no columns that are mapped, or is not read yet."""
    supposed: list[SupposedReading]
    """What the file left open and how it was read."""
    status: RunStatus
    """`uploaded`: it is being read, or waits for a mapping. `previewed`: what would become of its rows is known.
    `applying`: they are coming in. `applied`: they are in. `reverting`, `reverted`: they are taken out. `failed`:
    nothing of it came in."""
    rows: int
    """How many rows the file has: each is added, a duplicate, replaced, ignored or refused, in a preview what it would
    be."""
    added: int
    """How many rows are new transactions."""
    duplicates: int
    """How many rows the account has already."""
    replaced: int
    """How many rows take the place of a transaction of the account that was pending."""
    refused_rows: int
    """How many rows are not taken."""
    refused: list[RefusedLine]
    """The first 500 of the rows that are not taken, in the order of the file."""
    ignored_rows: int
    """How many rows are no transactions, or another account's."""
    ignored: list[IgnoredRows]
    """The rows that are no transactions or another account's, by kind."""
    other_accounts: list[OtherAccount]
    """The first 100 other accounts whose rows the file has."""
    currency: str
    """The currency of the account."""
    from_date: DateText | None
    """The first day that the file is of. Null: not known."""
    to_date: DateText | None
    """The last day that the file is of. Null: not known."""
    opening_balance: Amount | None
    """The balance before its first day, in `currency`. Null: the file has none, or is a broker's."""
    closing_balance: Amount | None
    """The balance after its last day, in `currency`. Null: the file has none, or is a broker's."""
    balanced: bool | None
    """Whether its balances and rows add up. Null: the file does not tell, or is a broker's."""
    error: str | None
    """Why it failed, for people. Null: it has not."""
    proposal: MappingProposal | None
    """What is asked about its columns. Null: nothing is."""
    applied_at: Timestamp | None
    """When its rows were in. Null: they are not, or not yet."""
    reverted_at: Timestamp | None
    """When its rows were taken out. Null: they were not."""
    created_at: Timestamp
    updated_at: Timestamp
    version: int
    first_imported_at: Timestamp | None
    """When the same file came in before: nothing was added now, and all that it brought is among the duplicates. Null:
    it had not."""
    undoing: Undoing | None
    """What an undoing takes out, in the answer to that of a bank's file and to its preview. Null: elsewhere."""


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
    """The `id` of the import."""


class ListImportRows(PageRequest, frozen=True, kw_only=True, omit_defaults=True):
    """Filters of the list."""

    import_id: Id
    """The `id` of the import."""
    action: Action | None = None
    """Only rows that become this."""
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
    """The `id` of the preview."""


class UndoImport(Request, frozen=True, kw_only=True):
    """Which import."""

    import_id: Id
    """The `id` of the import."""
