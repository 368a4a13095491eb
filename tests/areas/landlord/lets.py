"""Rows of tenancies as tests of pure rules want them."""

from gatewayd.areas.landlord.register.tenancy_shapes import RentNotice, RentStep, TenancyRow
from gatewayd.clock import from_wire

AT = from_wire("2026-11-20T09:30:00Z")


def step(first: str, amount: str, notice: RentNotice | None = None) -> RentStep:
    return RentStep(from_date=first, amount=amount, notice=notice)


def tenancy(*history: RentStep, **values: object) -> TenancyRow:
    """A tenancy that starts with the first step of its history, monthly on the 1st unless `values` say otherwise."""
    defaults: dict[str, object] = {
        **dict.fromkeys(TenancyRow.__struct_fields__),
        "id": "tcy_1",
        "property_id": "prop_1",
        "tenant_ids": [],
        "tenant_spans": [],
        "notice_grounds": [],
        "type": "assured_periodic",
        "start_date": history[0].from_date,
        "rent_frequency": "monthly",
        "rent_due_day": 1,
        "bills_included": False,
        "currency": "GBP",
        "rent_history": list(history),
        "created_at": AT,
        "updated_at": AT,
        "version": 1,
    }
    return TenancyRow(**{**defaults, **values})  # type: ignore[arg-type]
