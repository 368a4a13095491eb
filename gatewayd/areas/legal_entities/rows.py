"""The row of a legal entity: its typed columns, and the wire form that they give."""

import datetime
from typing import Any, Literal, NamedTuple

import msgspec

from gatewayd.areas.legal_entities import fields as f
from gatewayd.areas.legal_entities import tax_standings
from gatewayd.areas.legal_entities.tax_standings import TaxStanding
from gatewayd.clock import Instant, to_wire
from gatewayd.contract.wire import Address, Id, Response, Timestamp, encode, open_wire
from gatewayd.store import ReadTx, WriteTx


class TaxConnection(Response, frozen=True, kw_only=True):
    """Which services of the tax authority the entity's organization is connected to, and until when."""

    vat: bool
    itsa: bool
    expires_at: Timestamp | None


class ItsaStatus(Response, frozen=True, kw_only=True):
    """The entity's standing in Making Tax Digital for Income Tax, as last fetched."""

    tax_year: str
    status: str
    reason: str | None
    fetched_at: Timestamp


class Kept(Response, frozen=True, kw_only=True):
    """The part of an entity whose JSON is kept with the row."""

    id: Id
    external_id: str | None
    name: str
    legal_name: str | None
    type: f.EntityType
    status: Literal["active", "archived"]
    company_number: str | None
    vat_number: str | None
    vat: f.Vat
    accounting_year_end: f.YearEnd
    base_currency: str
    country_code: str
    tax_residency: f.TaxResidency | None
    address: Address | None
    email: str | None
    phone: str | None
    website: str | None
    cis: f.Cis
    itsa_status: ItsaStatus | None
    tax_connection: TaxConnection
    archived_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp
    version: int


class LegalEntity(Kept, frozen=True, kw_only=True):
    """A person, company or partnership. In lists `utr` and `nino` show their last three characters only."""

    utr: str | None
    nino: str | None


COLUMNS = (
    "id, external_id, name, legal_name, type, company_number, utr, nino_sealed, nino_hint, vat_number, vat_status,"
    " vat_effective_date, vat_deregistration_date, vat_scheme, vat_return_frequency, vat_stagger_group,"
    " vat_period_end_month, vat_flat_rate_category, vat_flat_rate_percent, vat_flat_rate_start_date, year_end_month,"
    " year_end_day, base_currency, country_code, tax_residency, address, email, phone, website, cis_contractor,"
    " cis_subcontractor, cis_verified_rate, archived_at, created_at, updated_at, version"
)
COLUMN_NAMES = tuple(COLUMNS.replace(" ", "").split(","))
PARAMETERS = ", ".join(f":{name}" for name in COLUMN_NAMES)
ASSIGNMENTS = ", ".join(f"{name} = :{name}" for name in COLUMN_NAMES if name not in ("id", "created_at"))


def identifiers(utr: str | None, nino: str | None) -> bytes:
    """The end of an entity's JSON, which is not kept."""
    return b',"utr":%b,"nino":%b}' % (encode(utr), encode(nino))


def masked_identifiers(utr: str | None, nino_hint: str | None) -> bytes:
    """The same for lists: the last three characters only. `nino_hint` is those already."""
    return identifiers(_masked(utr, 10), _masked(nino_hint, 9))


def _masked(text: str | None, length: int) -> str | None:
    return None if text is None else text[-3:].rjust(length, "*")


def nino_context(entity_id: str) -> str:
    """What a National Insurance number is sealed under."""
    return f"legal_entities.nino:{entity_id}"


class Stamps(NamedTuple):
    """What an entity's life has left on it."""

    created_at: Instant
    version: int
    archived_at: Instant | None


def columns(tx: WriteTx, entity_id: str, fields: f.Fields, stamps: Stamps) -> dict[str, Any]:
    """The value of every column, `search_text` and `wire` included."""
    vat, end, cis = fields.vat, fields.accounting_year_end, fields.cis
    nino = fields.nino
    values: dict[str, Any] = {
        "id": entity_id,
        "nino_sealed": None if nino is None else tx.seal(nino, nino_context(entity_id)),
        "nino_hint": None if nino is None else nino[-3:],
        "vat_status": vat.status,
        "vat_effective_date": _text(vat.effective_date),
        "vat_deregistration_date": _text(vat.deregistration_date),
        "vat_scheme": vat.scheme,
        "vat_return_frequency": vat.return_frequency,
        "vat_stagger_group": vat.stagger_group,
        "vat_period_end_month": vat.period_end_month,
        "vat_flat_rate_category": vat.flat_rate_category,
        "vat_flat_rate_percent": vat.flat_rate_percent,
        "vat_flat_rate_start_date": _text(vat.flat_rate_start_date),
        "year_end_month": end.month,
        "year_end_day": end.day,
        "address": None if fields.address is None else encode(fields.address).decode(),
        "cis_contractor": int(cis.contractor),
        "cis_subcontractor": int(cis.subcontractor),
        "cis_verified_rate": cis.verified_rate,
        "updated_at": tx.now,
        **stamps._asdict(),
    }
    for name in COLUMN_NAMES:
        if name not in values:
            values[name] = getattr(fields, name)
    numbers = (fields.name, fields.legal_name, fields.company_number, fields.vat_number)
    values["search_text"] = "\n".join(text.casefold() for text in numbers if text)
    values["wire"] = wire(fields, values, tax_standings.find(tx))
    return values


def fields_of(tx: ReadTx, stored: dict[str, Any]) -> f.Fields:
    """The entity behind its columns."""
    sealed = stored["nino_sealed"]
    same = {name: stored[name] for name in f.Fields.__struct_fields__ if name in stored}
    same["nino"] = None if sealed is None else tx.unseal(sealed, nino_context(stored["id"]))
    same["address"] = stored["address"] and msgspec.json.decode(stored["address"], type=Address)
    return f.Fields(
        **same,
        vat=f.Vat(
            status=stored["vat_status"],
            effective_date=_date(stored["vat_effective_date"]),
            deregistration_date=_date(stored["vat_deregistration_date"]),
            scheme=stored["vat_scheme"],
            return_frequency=stored["vat_return_frequency"],
            stagger_group=stored["vat_stagger_group"],
            period_end_month=stored["vat_period_end_month"],
            flat_rate_category=stored["vat_flat_rate_category"],
            flat_rate_percent=stored["vat_flat_rate_percent"],
            flat_rate_start_date=_date(stored["vat_flat_rate_start_date"]),
        ),
        accounting_year_end=f.YearEnd(month=stored["year_end_month"], day=stored["year_end_day"]),
        cis=f.Cis(
            contractor=bool(stored["cis_contractor"]),
            subcontractor=bool(stored["cis_subcontractor"]),
            verified_rate=stored["cis_verified_rate"],
        ),
    )


def wire(fields: f.Fields, values: dict[str, Any], standing: TaxStanding | None) -> bytes:
    """The JSON that is kept with the row: without utr, nino and the closing brace."""
    same = {name: getattr(fields, name) for name in Kept.__struct_fields__ if name in f.Fields.__struct_fields__}
    archived_at = values["archived_at"]
    return open_wire(
        Kept(
            **same,
            id=values["id"],
            status="active" if archived_at is None else "archived",
            itsa_status=None,
            tax_connection=_tax_connection(standing),
            archived_at=None if archived_at is None else to_wire(archived_at),
            created_at=to_wire(values["created_at"]),
            updated_at=to_wire(values["updated_at"]),
            version=values["version"],
        )
    )


def _tax_connection(standing: TaxStanding | None) -> TaxConnection:
    if standing is None:
        return TaxConnection(vat=False, itsa=False, expires_at=None)
    return TaxConnection(vat=standing.vat, itsa=standing.itsa, expires_at=to_wire(standing.expires_at))


def _text(date: datetime.date | None) -> str | None:
    return None if date is None else date.isoformat()


def _date(text: str | None) -> datetime.date | None:
    return None if text is None else datetime.date.fromisoformat(text)
