"""Tenancies as they are stored. Owns the tables `tenancies` and `tenancy_tenants`."""

from gatewayd.areas.landlord.tenancies import states
from gatewayd.areas.landlord.tenancies.shapes import TenancyRow
from gatewayd.store import Table

TENANCIES = Table("tenancies", TenancyRow, kind="tenancy", prefix="tcy", written={"last_day": states.last_day})
