"""Makes the peer's database: `seed.py DATABASE INVOICES`. Prints the key, the client's id and the entity's."""

import datetime
import hashlib
import secrets
import sys

from accounting import build_invoice, build_line
from schemas import LineIn
from sqlalchemy.orm import Session
from tables import ApiKey, Base, Client, InvoiceSequence, LegalEntity, connect

LINES = [
    {"description": "Oak front door", "unitPrice": "1240.00"},
    {"description": "Fitting", "quantity": "6.5", "unit": "hours", "unitPrice": "42.50"},
]


def _entity(now: datetime.datetime) -> LegalEntity:
    return LegalEntity(
        id="ent_01k0000000000000000000000a",
        org_id="org_01k0000000000000000000000a",
        name="Oak & Son Joinery",
        legal_name="Oak & Son Joinery Ltd",
        type="limited_company",
        status="active",
        company_number="09876543",
        vat_number="980780684",
        vat={
            "status": "registered",
            "effectiveDate": "2023-04-01",
            "deregistrationDate": None,
            "scheme": "standard",
            "returnFrequency": "quarterly",
            "staggerGroup": 1,
            "periodEndMonth": None,
            "flatRateCategory": None,
            "flatRatePercent": None,
            "flatRateStartDate": None,
        },
        accounting_year_end={"month": 3, "day": 31},
        base_currency="GBP",
        country_code="GB",
        address={
            "line1": "12 Oak Street",
            "line2": None,
            "town": "Leeds",
            "county": None,
            "postcode": "LS1 4DY",
            "countryCode": "GB",
        },
        email="office@oakandson.example",
        cis={"contractor": False, "subcontractor": True, "verifiedRate": 20},
        tax_connection={"vat": False, "itsa": False, "expiresAt": None},
        created_at=now,
        updated_at=now,
        version=1,
    )


def main() -> None:
    """One organization, one entity, one client, its invoices."""
    engine = connect(sys.argv[1])
    Base.metadata.create_all(engine)
    token, now = secrets.token_urlsafe(32), datetime.datetime(2026, 11, 20, 9, 30)
    entity = _entity(now)
    client = Client(
        id="cli_01k0000000000000000000000a",
        org_id=entity.org_id,
        name="Birch Interiors Ltd",
        country_code="GB",
        payment_terms_days=14,
    )
    count = int(sys.argv[2])
    with Session(engine, expire_on_commit=False) as session:
        digest = hashlib.sha256(token.encode()).digest()
        session.add(ApiKey(id="key_1", org_id=entity.org_id, hash=digest, scopes="accounting:read accounting:write"))
        session.add(InvoiceSequence(org_id=entity.org_id, last_number=count))
        session.add_all((entity, client))
        session.commit()
        for n in range(1, count + 1):
            lines = [build_line(position, LineIn(**line)) for position, line in enumerate(LINES, start=1)]
            session.add(build_invoice(entity.org_id, f"INV-{n:06d}", client, entity, lines))
        session.commit()
    print(token, client.id, entity.id, sep="\n")


if __name__ == "__main__":
    main()
