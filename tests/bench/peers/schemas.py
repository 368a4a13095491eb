"""What crosses the peer's wire: pydantic models with the members that gatewayd answers."""

import datetime
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer
from pydantic.alias_generators import to_camel

T = TypeVar("T")


def amount_text(minor: int) -> str:
    """`1516.25`."""
    return f"{minor // 100}.{minor % 100:02d}"


Amount = Annotated[int, PlainSerializer(amount_text, return_type=str)]


class Model(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, from_attributes=True)


class Address(Model):
    line1: str
    line2: str | None
    town: str | None
    county: str | None
    postcode: str | None
    country_code: str


class ClientOut(Model):
    name: str
    contact_name: str | None
    billing_address: Address | None
    vat_number: str | None
    company_number: str | None
    country_code: str


class SellerOut(Model):
    name: str
    address: Address | None
    vat_number: str | None
    company_number: str | None


class VatSummary(Model):
    vat_code: str
    rate_percent: str
    net: str
    vat: str
    reverse_charge: bool


class LineOut(Model):
    position: int
    description: str
    quantity: str
    unit: str | None
    unit_price: Amount
    discount_percent: str
    vat_code: str
    vat_rate_percent: str
    category: str | None
    net: Amount
    vat: Amount
    gross: Amount
    property_id: str | None
    cis_labour: bool


class InvoiceOut(Model):
    id: str
    external_id: str | None
    number: str
    origin: str
    kind: str
    status: str
    legal_entity_id: str
    business_id: str | None
    client_id: str
    credits_invoice_id: str | None
    client: ClientOut
    seller_snapshot: SellerOut
    issue_date: datetime.date
    supply_date: datetime.date
    due_date: datetime.date
    currency: str
    fx_rate: str | None
    amounts_are: str
    vat_rounding: str
    net_total: Amount
    vat_total: Amount
    gross_total: Amount
    discount_amount: Amount
    discount_total: Amount
    reverse_charge_vat: Amount
    vat_total_base: Amount | None
    vat_summary: list[VatSummary]
    cis_deduction: Amount
    cis_rate: int | None
    paid_total: Amount
    credited_total: Amount
    balance_due: Amount
    reference: str | None
    po_number: str | None
    notes: str | None
    terms: str | None
    bank_account_id: str | None
    property_id: str | None
    sent_at: datetime.datetime | None
    viewed_at: datetime.datetime | None
    paid_date: datetime.date | None
    voided_at: datetime.datetime | None
    void_reason: str | None
    pdf_document_id: str | None
    created_at: datetime.datetime
    updated_at: datetime.datetime
    version: int
    lines: list[LineOut]


class EntityOut(Model):
    id: str
    external_id: str | None
    name: str
    legal_name: str | None
    type: str
    status: str
    company_number: str | None
    vat_number: str | None
    vat: dict[str, Any]
    accounting_year_end: dict[str, Any]
    base_currency: str
    country_code: str
    tax_residency: str | None
    address: Address | None
    email: str | None
    phone: str | None
    website: str | None
    cis: dict[str, Any]
    tax_connection: dict[str, Any]
    archived_at: datetime.datetime | None
    created_at: datetime.datetime
    updated_at: datetime.datetime
    version: int
    utr: str | None
    nino: str | None


class Page(Model, Generic[T]):
    data: list[T]
    next_cursor: str | None


class LineIn(Model):
    description: str = Field(min_length=1, max_length=500)
    quantity: Decimal = Decimal(1)
    unit: str | None = None
    unit_price: Decimal = Field(ge=0, decimal_places=2)
    vat_code: Literal["standard", "reduced", "zero"] = "standard"


class InvoiceIn(Model):
    client_id: str
    status: Literal["draft", "issued"] = "issued"
    lines: list[LineIn] = Field(min_length=1, max_length=200)
