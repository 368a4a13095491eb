"""Requests to import a bank's file, and to take one back (domain model E)."""

from typing import Annotated, Final, Literal

from msgspec import Meta

from gatewayd.contract.wire import Date, Id, Request
from gatewayd.ledger.imports.import_shapes import FileName, MappingText

DateOrder = Annotated[
    Literal["dmy", "mdy", "ymd"],
    Meta(description="Of a CSV or QIF that leaves it open: what stands first of day, month and year."),
]
Spent = Annotated[
    Literal["negative", "positive"],
    Meta(description="Of a CSV or QIF that leaves it open: how what was spent is written."),
]
OfAccount = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=160,
        description="Which account of the file it is, by its name or number there: of a file of several, where the "
        "account has no number.",
        examples=["Savings"],
    ),
]
_FROM: Final = "The first day that the file is of, where it began before its first line."


class ImportStatement(Request, frozen=True, kw_only=True):
    """A statement file for an account. The file is the body."""

    account_id: Id
    file_name: FileName = "statement"
    format: Annotated[
        Literal["auto", "ofx", "qif", "camt053", "mt940", "csv"], Meta(description="auto: found out by content.")
    ] = "auto"
    preview: Annotated[bool, Meta(description="Only show what would become of its rows.")] = False
    mapping: MappingText | None = None
    date_order: DateOrder | None = None
    spent: Spent | None = None
    of_account: OfAccount | None = None
    from_date: Annotated[Date, Meta(description=_FROM)] | None = None
    to_date: Annotated[Date, Meta(description="The last day that the file is of.")] | None = None


class UndoStatement(Request, frozen=True, kw_only=True):
    """Which import of a bank's file to undo, and how."""

    import_id: Id
    """Which import."""
    remove_allocations: Annotated[bool, Meta(description="Take back what its transactions are allocated to.")] = False
    preview: Annotated[bool, Meta(description="Only tell what would be taken out.")] = False
