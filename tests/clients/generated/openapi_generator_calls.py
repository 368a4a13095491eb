"""Ten calls of a client that openapi-generator makes for Python."""

import datetime
import json
import os

from books import ApiClient, Configuration
from books.api import AccountingApi, BusinessesApi, LegalEntitiesApi
from books.exceptions import NotFoundException
from books.models import (
    AddressRequest,
    BusinessType,
    CreateBusiness,
    CreateBusinessType,
    CreateClient,
    CreateInvoice,
    IssueInvoice,
    LineRequest,
    ListInvoicesStatus,
    Problem,
    UpdateClient,
)

with ApiClient(Configuration(host=os.environ["BASE_URL"], access_token=os.environ["API_KEY"])) as client:
    accounting, of_businesses = AccountingApi(client), BusinessesApi(client)
    entities = LegalEntitiesApi(client).legal_entity_get_legal_entities(limit=1)
    address = AddressRequest(line1="8 Canal Wharf", town="Leeds", countryCode="GB")
    made = accounting.accounting_create_client(
        create_client=CreateClient(name="Willow Interiors", billingAddress=address), idempotency_key="made-once"
    )
    accounting.accounting_update_client(
        made.id, update_client=UpdateClient(paymentTermsDays=14, expectedVersion=made.version)
    )
    read = accounting.accounting_get_client(made.id)
    line = LineRequest(description="Oak boards", unitPrice="49.99", quantity="12")
    draft = accounting.accounting_create_invoice(create_invoice=CreateInvoice(clientId=made.id, lines=[line]))
    issued = accounting.accounting_issue_invoice(draft.id, issue_invoice=IssueInvoice(expectedVersion=draft.version))
    listed = accounting.accounting_list_invoices(client_id=made.id, status=[ListInvoicesStatus.ISSUED], limit=5)
    missing: Problem | None = None
    try:
        accounting.accounting_get_invoice("inv_00000000000000000000000000")
    except NotFoundException as error:
        missing = Problem.from_json(str(error.body))
    assert missing is not None
    business = of_businesses.businesses_create(
        create_business=CreateBusiness(
            legalEntityId=entities.data[0].id,
            type=CreateBusinessType.COMPANY_TRADE,
            name="Joinery",
            commencementDate=datetime.date(2024, 5, 1),
        )
    )
    businesses = of_businesses.businesses_list(type=BusinessType.COMPANY_TRADE)
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
            "business": [business.type.value, str(business.commencement_date)],
            "businesses": [each.name for each in businesses.data],
        }
    )
)
