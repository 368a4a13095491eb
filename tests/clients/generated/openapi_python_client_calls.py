"""Ten calls of a client that openapi-python-client generates."""

import datetime
import json
import os

from books.api.accounting import (
    accounting_create_client,
    accounting_create_invoice,
    accounting_get_client,
    accounting_get_invoice,
    accounting_issue_invoice,
    accounting_list_invoices,
    accounting_update_client,
)
from books.api.businesses import businesses_create, businesses_list
from books.api.legal_entities import legal_entity_get_legal_entities
from books.client import AuthenticatedClient
from books.models import (
    AddressRequest,
    BillingClient,
    Business,
    BusinessPage,
    BusinessType,
    CreateBusiness,
    CreateBusinessType,
    CreateClient,
    CreateInvoice,
    Invoice,
    InvoicePage,
    IssueInvoice,
    LegalEntityPage,
    LineRequest,
    ListInvoicesStatus,
    Problem,
    UpdateClient,
)

client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["API_KEY"])

entities = legal_entity_get_legal_entities.sync(client=client, limit=1)
assert isinstance(entities, LegalEntityPage)
address = AddressRequest(line1="8 Canal Wharf", town="Leeds", country_code="GB")
made = accounting_create_client.sync(
    client=client, body=CreateClient(name="Willow Interiors", billing_address=address), idempotency_key="made-once"
)
assert isinstance(made, BillingClient)
change = UpdateClient(payment_terms_days=14, expected_version=made.version)
assert isinstance(accounting_update_client.sync(made.id, client=client, body=change), BillingClient)
read = accounting_get_client.sync(made.id, client=client)
assert isinstance(read, BillingClient)
line = LineRequest(description="Oak boards", unit_price="49.99", quantity="12")
draft = accounting_create_invoice.sync(client=client, body=CreateInvoice(client_id=made.id, lines=[line]))
assert isinstance(draft, Invoice)
issued = accounting_issue_invoice.sync(draft.id, client=client, body=IssueInvoice(expected_version=draft.version))
assert isinstance(issued, Invoice)
listed = accounting_list_invoices.sync(client=client, client_id=made.id, status=[ListInvoicesStatus.ISSUED], limit=5)
assert isinstance(listed, InvoicePage)
missing = accounting_get_invoice.sync("inv_00000000000000000000000000", client=client)
assert isinstance(missing, Problem)
business = businesses_create.sync(
    client=client,
    body=CreateBusiness(
        legal_entity_id=entities.data[0].id,
        type_=CreateBusinessType.COMPANY_TRADE,
        name="Joinery",
        commencement_date=datetime.date(2024, 5, 1),
    ),
)
assert isinstance(business, Business)
businesses = businesses_list.sync(client=client, type_=BusinessType.COMPANY_TRADE)
assert isinstance(businesses, BusinessPage)
print(
    json.dumps(
        {
            "client": [
                read.name,
                read.billing_address.line1 if read.billing_address else None,
                read.payment_terms_days,
            ],
            "draft": [draft.status.value, draft.number],
            "issued": [issued.status.value, issued.net_total, issued.version > draft.version],
            "listed": [[invoice.id == issued.id, invoice.is_overdue] for invoice in listed.data],
            "missing": [missing.status, missing.code.value],
            "business": [business.type_.value, str(business.commencement_date)],
            "businesses": [each.name for each in businesses.data],
        }
    )
)
