"""Ten calls with httpx, their bodies and answers in the models of datamodel-code-generator."""

import datetime
import json
import os
from typing import TypeVar

import httpx
from books import (
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
    Problem,
    UpdateClient,
)
from pydantic import BaseModel

A = TypeVar("A", bound=BaseModel)

client = httpx.Client(
    base_url=os.environ["BASE_URL"], headers={"Authorization": f"Bearer {os.environ['API_KEY']}"}, trust_env=False
)


def get(path: str, answer: type[A], **query: str | int) -> A:
    """What is answered to a query, with any status."""
    return answer.model_validate_json(client.get(path, params=query).content)


def send(method: str, path: str, body: BaseModel, answer: type[A]) -> A:
    """What is answered to a body without what was not given."""
    given = body.model_dump_json(by_alias=True, exclude_unset=True)
    response = client.request(method, path, content=given, headers={"Content-Type": "application/json"})
    return answer.model_validate_json(response.raise_for_status().content)


entities = get("/legalEntity/getLegalEntities", LegalEntityPage, limit=1)
address = AddressRequest(line1="8 Canal Wharf", town="Leeds", countryCode="GB")
made = send("POST", "/clients", CreateClient(name="Willow Interiors", billingAddress=address), BillingClient)
change = UpdateClient(paymentTermsDays=14, expectedVersion=made.version)
send("PATCH", f"/clients/{made.id}", change, BillingClient)
read = get(f"/clients/{made.id}", BillingClient)
line = LineRequest(description="Oak boards", unitPrice="49.99", quantity="12")
draft = send("POST", "/invoices", CreateInvoice(clientId=made.id, lines=[line]), Invoice)
issued = send("POST", f"/invoices/{draft.id}/issue", IssueInvoice(expectedVersion=draft.version), Invoice)
listed = get("/invoices", InvoicePage, clientId=made.id, status="issued", limit=5)
missing = get("/invoices/inv_00000000000000000000000000", Problem)
new_business = CreateBusiness(
    legalEntityId=entities.data[0].id,
    type=CreateBusinessType.COMPANY_TRADE,
    name="Joinery",
    commencementDate=datetime.date(2024, 5, 1),
)
business = send("POST", "/businesses/create", new_business, Business)
businesses = get("/businesses/list", BusinessPage, type=BusinessType.COMPANY_TRADE.value)
print(
    json.dumps(
        {
            "client": [read.name, read.billingAddress.line1 if read.billingAddress else None, read.paymentTermsDays],
            "draft": [draft.status.value, draft.number],
            "issued": [issued.status.value, issued.netTotal, issued.version > draft.version],
            "listed": [[invoice.id == issued.id, invoice.isOverdue] for invoice in listed.data],
            "missing": [missing.status, missing.code.value],
            "business": [business.type.value, str(business.commencementDate)],
            "businesses": [each.name for each in businesses.data],
        }
    )
)
