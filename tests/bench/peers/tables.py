"""The peer's database: the same firm, the same invoices, as SQLAlchemy 2 models. Money in minor units."""

import datetime
from typing import Any

from sqlalchemy import JSON, Engine, ForeignKey, Index, create_engine, event
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

BUSY_SECONDS = 30
POOL_CONNECTIONS = 40  # as many as there are threads


class Base(DeclarativeBase):
    type_annotation_map = {dict[str, Any]: JSON, list[dict[str, Any]]: JSON}  # noqa: RUF012 - SQLAlchemy's own form


class ApiKey(Base):
    __tablename__ = "api_keys"
    id: Mapped[str] = mapped_column(primary_key=True)
    org_id: Mapped[str]
    hash: Mapped[bytes] = mapped_column(unique=True)
    scopes: Mapped[str]
    revoked_at: Mapped[datetime.datetime | None]


class LegalEntity(Base):
    __tablename__ = "legal_entities"
    id: Mapped[str] = mapped_column(primary_key=True)
    org_id: Mapped[str] = mapped_column(index=True)
    external_id: Mapped[str | None]
    name: Mapped[str]
    legal_name: Mapped[str | None]
    type: Mapped[str]
    status: Mapped[str]
    company_number: Mapped[str | None]
    vat_number: Mapped[str | None]
    vat: Mapped[dict[str, Any]]
    accounting_year_end: Mapped[dict[str, Any]]
    base_currency: Mapped[str]
    country_code: Mapped[str]
    tax_residency: Mapped[str | None]
    address: Mapped[dict[str, Any] | None]
    email: Mapped[str | None]
    phone: Mapped[str | None]
    website: Mapped[str | None]
    cis: Mapped[dict[str, Any]]
    tax_connection: Mapped[dict[str, Any]]
    archived_at: Mapped[datetime.datetime | None]
    created_at: Mapped[datetime.datetime]
    updated_at: Mapped[datetime.datetime]
    version: Mapped[int]
    utr: Mapped[str | None]
    nino: Mapped[str | None]


class Client(Base):
    __tablename__ = "clients"
    id: Mapped[str] = mapped_column(primary_key=True)
    org_id: Mapped[str] = mapped_column(index=True)
    name: Mapped[str]
    contact_name: Mapped[str | None]
    billing_address: Mapped[dict[str, Any] | None]
    vat_number: Mapped[str | None]
    company_number: Mapped[str | None]
    country_code: Mapped[str]
    payment_terms_days: Mapped[int]


class Invoice(Base):
    __tablename__ = "invoices"
    __table_args__ = (Index("invoices_page", "org_id", "id"), Index("invoices_number", "org_id", "number", unique=True))
    id: Mapped[str] = mapped_column(primary_key=True)
    org_id: Mapped[str]
    external_id: Mapped[str | None]
    number: Mapped[str]
    origin: Mapped[str]
    kind: Mapped[str]
    status: Mapped[str]
    legal_entity_id: Mapped[str] = mapped_column(ForeignKey("legal_entities.id"))
    business_id: Mapped[str | None]
    client_id: Mapped[str] = mapped_column(ForeignKey("clients.id"), index=True)
    credits_invoice_id: Mapped[str | None]
    seller_snapshot: Mapped[dict[str, Any]]
    issue_date: Mapped[datetime.date]
    supply_date: Mapped[datetime.date]
    due_date: Mapped[datetime.date]
    currency: Mapped[str]
    fx_rate: Mapped[str | None]
    amounts_are: Mapped[str]
    vat_rounding: Mapped[str]
    net_total: Mapped[int]
    vat_total: Mapped[int]
    gross_total: Mapped[int]
    discount_amount: Mapped[int]
    discount_total: Mapped[int]
    reverse_charge_vat: Mapped[int]
    vat_total_base: Mapped[int | None]
    vat_summary: Mapped[list[dict[str, Any]]]
    cis_deduction: Mapped[int]
    cis_rate: Mapped[int | None]
    paid_total: Mapped[int]
    credited_total: Mapped[int]
    balance_due: Mapped[int]
    reference: Mapped[str | None]
    po_number: Mapped[str | None]
    notes: Mapped[str | None]
    terms: Mapped[str | None]
    bank_account_id: Mapped[str | None]
    property_id: Mapped[str | None]
    sent_at: Mapped[datetime.datetime | None]
    viewed_at: Mapped[datetime.datetime | None]
    paid_date: Mapped[datetime.date | None]
    voided_at: Mapped[datetime.datetime | None]
    void_reason: Mapped[str | None]
    pdf_document_id: Mapped[str | None]
    created_at: Mapped[datetime.datetime]
    updated_at: Mapped[datetime.datetime]
    version: Mapped[int]
    client: Mapped[Client] = relationship()
    lines: Mapped[list["InvoiceLine"]] = relationship(order_by="InvoiceLine.position")


class InvoiceLine(Base):
    __tablename__ = "invoice_lines"
    invoice_id: Mapped[str] = mapped_column(ForeignKey("invoices.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    description: Mapped[str]
    quantity: Mapped[str]
    unit: Mapped[str | None]
    unit_price: Mapped[int]
    discount_percent: Mapped[str]
    vat_code: Mapped[str]
    vat_rate_percent: Mapped[str]
    category: Mapped[str | None]
    net: Mapped[int]
    vat: Mapped[int]
    gross: Mapped[int]
    property_id: Mapped[str | None]
    cis_labour: Mapped[bool]


class InvoiceSequence(Base):
    __tablename__ = "invoice_sequences"
    org_id: Mapped[str] = mapped_column(primary_key=True)
    last_number: Mapped[int]


def connect(path: str) -> Engine:
    """The engine: WAL, durable commits, and a writer that waits for another."""
    engine = create_engine(f"sqlite:///{path}", pool_size=POOL_CONNECTIONS, connect_args={"timeout": BUSY_SECONDS})

    @event.listens_for(engine, "connect")
    def settle(connection: Any, record: object) -> None:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    return engine
