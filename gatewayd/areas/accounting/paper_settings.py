"""What a seller's papers look like, and say beside each invoice: logo, colour, account, and what a firm says.

Owns the table `papers`: one row for each seller that has said anything. `getInvoicePdf` prints it, as it is when the
paper is made first.
"""

from collections.abc import Iterator
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from gatewayd.areas.accounting.invoices import drafts
from gatewayd.clock import Instant
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.wire import Address, AddressRequest, Id, Request, Response, Timestamp, Version, project
from gatewayd.errors import FieldError, invalid, version_conflict
from gatewayd.ledger import references
from gatewayd.ledger.references import Reference
from gatewayd.ledger.vat.sellers import Seller
from gatewayd.store import ReadTx, Table, WriteTx

Color = Annotated[
    str,
    Meta(
        pattern="^#[0-9a-f]{6}$",
        extra={"form": "a colour of # and six hexadecimal digits in small letters"},
        examples=["#1f3a5f"],
    ),
]
Said = Annotated[str, Meta(min_length=1, max_length=160, pattern=r"\S")]
Lines = Annotated[str, Meta(min_length=1, max_length=1000, pattern=r"\S")]
LOGO_BYTES_MAX = 512 << 10  # Chosen
LOGO_TYPES = ("image/png", "image/jpeg")

_SELECT_OWN = "SELECT id FROM papers WHERE org_id = :org_id AND seller_key = :key"
_SELECT_LOGO = """
SELECT mime_type, size_bytes FROM vault_documents WHERE org_id = :org_id AND id = :id AND status = 'uploaded'
"""
_SELECT_ACCOUNT = "SELECT 1 FROM bank_accounts WHERE org_id = :org_id AND id = :id AND status = 'active'"
_SELECT_ENTITY = "SELECT type, legal_name FROM legal_entities WHERE org_id = :org_id AND id = :id"


class GetPaper(Request, frozen=True, kw_only=True):
    """Whose papers."""

    legal_entity_id: Id | None = None
    """Who sells. By default the only legal entity, or the organization where it has none."""


class SetPaper(GetPaper, frozen=True, kw_only=True):
    """What to change of a seller's papers. An absent field stays, null clears."""

    expected_version: Version | None = None
    trading_name: Said | UnsetType | None = UNSET
    owners: Lines | UnsetType | None = UNSET
    accent_color: Color | UnsetType | None = UNSET
    logo_document_id: Id | UnsetType | None = UNSET
    bank_account_id: Id | UnsetType | None = UNSET
    register: Said | UnsetType | None = UNSET
    registered_office: AddressRequest | UnsetType | None = UNSET
    terms: Lines | UnsetType | None = UNSET
    footer: Lines | UnsetType | None = UNSET


class PaperWarning(Response, frozen=True, kw_only=True):
    """What a paper lacks."""

    path: str
    """The field that it is about, of this answer or of the legal entity."""
    code: Literal["address_missing", "bank_account_missing", "logo_missing", "owners_missing"]
    """`address_missing`: the seller's address, which a VAT invoice prints. `bank_account_missing`: an account to pay
    into that is in use. `logo_missing`: the logo is no document of the vault any more. `owners_missing`: the people
    that trade under a name of business."""
    message: str
    """The same in words."""


class StoredPaper(Response, frozen=True, kw_only=True):
    """The part that is stored."""

    legal_entity_id: str | None
    """Who sells. Null: the organization, in its own name."""
    trading_name: str | None
    """The name that it trades under, printed above its own. Null: none."""
    owners: str | None
    """The people whose firm it is, with an address for each, where it trades under another name than theirs (Companies
    Act 2006 s1202). Null: none are named."""
    accent_color: str | None
    """The colour of headings, as `#1f3a5f`. Null: a dark blue."""
    logo_document_id: str | None
    """The document of the vault, a PNG or JPEG of 512 KiB at most, that is printed as logo. Null: none."""
    bank_account_id: str | None
    """The bank account to pay into, where the invoice names none. Null: none is printed then."""
    register: str | None
    """Where the company is registered, such as England and Wales. Null: nobody said."""
    registered_office: Address | None
    """The address of the registered office. Null: it is not printed apart."""
    terms: str | None
    """Terms that are printed where the invoice has none of its own. Null: none."""
    footer: str | None
    """What stands at the foot of each page. Null: nothing beside what the seller has to say of itself."""
    version: int
    """The number of changes, for `expectedVersion`. 0: nothing was said so far."""


class Paper(StoredPaper, frozen=True, kw_only=True):
    """What a seller's papers look like."""

    warnings: list[PaperWarning]
    """What they lack as things are. Empty: nothing."""


class PaperRow(StoredPaper, frozen=True, kw_only=True):
    """The row. `seller_key` is the legal entity, or the organization that sells in its own name."""

    id: Id
    seller_key: str
    created_at: Timestamp
    updated_at: Timestamp


PAPERS = Table("papers", PaperRow, kind="paper", prefix="pap")


def of_seller(tx: ReadTx, seller_key: str) -> PaperRow | None:
    """What a seller said of its papers; None: nothing."""
    id_: str | None = tx.value(_SELECT_OWN, key=seller_key)
    return None if id_ is None else PAPERS.get(tx, id_)


def get_paper(tx: ReadTx, caller: Caller, request: GetPaper) -> Paper:
    """Get what a seller's papers look like, and what they lack to be lawful and to be paid."""
    seller = drafts.seller(tx, request.legal_entity_id)
    return _shown(tx, seller, of_seller(tx, _key(seller)))


def set_paper(tx: WriteTx, caller: Caller, request: SetPaper) -> Paper:
    """Set what a seller's papers look like: logo, colour, the account to pay into, and what a firm says of itself.

    Papers that were made and kept already stay as they are.
    """
    seller = drafts.seller(tx, request.legal_entity_id)
    before = of_seller(tx, _key(seller))
    version = 0 if before is None else before.version
    if request.expected_version is not None and request.expected_version != version:
        raise version_conflict(request.expected_version, version)
    if errors := [*_mistakes(tx, request)]:
        raise invalid(*errors)
    if before is None:
        row = PAPERS.new(tx, None, seller_key=_key(seller), legal_entity_id=seller.legal_entity_id)
        return _shown(tx, seller, PAPERS.insert(tx, _amended(row, request)))
    return _shown(tx, seller, PAPERS.update(tx, _amended(before, request)))


def _key(seller: Seller) -> str:
    """Chosen: the legal entity's own, also where its numbers go on from those of the organization."""
    return seller.legal_entity_id or seller.key


def _amended(row: PaperRow, request: SetPaper) -> PaperRow:
    own = {"legal_entity_id", "expected_version"}
    given = {
        name: value
        for name in SetPaper.__struct_fields__
        if name not in own and (value := getattr(request, name)) is not UNSET
    }
    return replace(row, **given)


def _mistakes(tx: ReadTx, request: SetPaper) -> Iterator[FieldError]:
    named = []
    if isinstance(request.bank_account_id, str):
        named.append(Reference("bankAccountId", "bank_account", request.bank_account_id))
    if isinstance(request.logo_document_id, str):
        named.append(Reference("logoDocumentId", "document", request.logo_document_id))
    unknown = list(references.unknown(tx, named))
    yield from unknown
    if isinstance(request.logo_document_id, str) and all(error.path != "logoDocumentId" for error in unknown):
        mime_type, size = tx.row(_SELECT_LOGO, id=request.logo_document_id) or ("", 0)
        if mime_type not in LOGO_TYPES or size > LOGO_BYTES_MAX:
            message = f"Expected a PNG or JPEG of at most {LOGO_BYTES_MAX} bytes: this is {mime_type} of {size}."
            yield FieldError("logoDocumentId", "conflict", message)


def _shown(tx: ReadTx, seller: Seller, row: PaperRow | None) -> Paper:
    if row is None:
        row = _blank(tx, seller)
    return project(row, Paper, warnings=[*_warnings(tx, seller, row)])


def _blank(tx: ReadTx, seller: Seller) -> PaperRow:
    """What is shown of a seller that said nothing."""
    return PaperRow(
        id="",
        seller_key=_key(seller),
        legal_entity_id=seller.legal_entity_id,
        trading_name=None,
        owners=None,
        accent_color=None,
        logo_document_id=None,
        bank_account_id=None,
        register=None,
        registered_office=None,
        terms=None,
        footer=None,
        created_at=Instant(tx.now),
        updated_at=Instant(tx.now),
        version=0,
    )


def _warnings(tx: ReadTx, seller: Seller, row: PaperRow) -> Iterator[PaperWarning]:
    type_, legal_name = tx.row(_SELECT_ENTITY, id=seller.legal_entity_id) or ("", None)
    if seller.address is None:
        message = "The seller has no `address`, which a VAT invoice prints (VAT Regulations 1995 reg. 14(1)(d))."
        yield PaperWarning(path="legalEntity.address", code="address_missing", message=message)
    is_firm = type_ == "partnership" or (type_ in ("sole_trader", "individual") and row.trading_name and not legal_name)
    if is_firm and row.owners is None:
        message = (
            "A firm that trades under another name than its owners' prints their names and an address for each on its"
            " invoices (Companies Act 2006 s1202): give `owners`, or the entity its `legalName`."
        )
        yield PaperWarning(path="owners", code="owners_missing", message=message)
    if row.bank_account_id is None or tx.row(_SELECT_ACCOUNT, id=row.bank_account_id) is None:
        message = "No bank account in use is named: an invoice that names none does not say where to pay."
        yield PaperWarning(path="bankAccountId", code="bank_account_missing", message=message)
    if row.logo_document_id is not None and tx.row(_SELECT_LOGO, id=row.logo_document_id) is None:
        message = "The logo is no document of the vault any more: name another, or null."
        yield PaperWarning(path="logoDocumentId", code="logo_missing", message=message)


OPERATIONS = (
    Operation(
        id="accounting.getPaper",
        kind="read",
        method="GET",
        path="/invoices/paper",
        scopes=("accounting:read",),
        request=GetPaper,
        response=Paper,
        handler=get_paper,
        extension=True,
        example={"legalEntityId": "ent_01k0000000000000000000000a"},
    ),
    Operation(
        id="accounting.setPaper",
        kind="write",
        method="PATCH",
        path="/invoices/paper",
        scopes=("accounting:write",),
        request=SetPaper,
        response=Paper,
        handler=set_paper,
        errors=("version_conflict",),
        extension=True,
        example={
            "legalEntityId": "ent_01k0000000000000000000000a",
            "accentColor": "#7a3b12",
            "register": "England and Wales",
            "terms": "Payment within 14 days.",
        },
    ),
)
