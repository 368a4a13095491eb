"""`/sales/clients`: those who are sold to."""

from typing import Final

from gatewayd.console.addresses import CLIENTS
from gatewayd.console.components.shapes import Action, EmptyState
from gatewayd.console.operations.pages import FormPage, ListPage, QuestionPage
from gatewayd.console.operations.request_fields import Wording
from gatewayd.console.operations.resources import Resource

_NEW: Final = Action("Add a client", f"{CLIENTS}/new")
_WORDING: Final = {
    "q": Wording("Name"),
    "paymentTermsDays": Wording("Days to pay"),
    "ccEmails": Wording("Copies go to", "One address a line."),
    "cisContractor": Wording("Deducts under the Construction Industry Scheme"),
}
_PROPOSED: Final = {"billingAddress.countryCode": "GB"}
_NAMES: Final = (
    *("name", "kind", "contactName", "email", "ccEmails", "phone", "billingAddress", "companyNumber", "vatNumber"),
    *("currency", "paymentTermsDays", "cisContractor", "notes"),
)
RESOURCE: Final = Resource(
    listed=ListPage(
        operation="accounting.listClients",
        title="Clients",
        address=CLIENTS,
        columns={"name": "", "contactName": "Contact", "email": "", "paymentTermsDays": "Days to pay", "status": ""},
        filters=("q", "status"),
        wording=_WORDING,
        href=lambda row: f"{CLIENTS}/{row['id']}",
        primary=_NEW,
        empty=EmptyState(sentence="Here stand those whom you write invoices to.", action=_NEW),
    ),
    new=FormPage(
        operation="accounting.createClient",
        title="New client",
        button="Add client",
        back=CLIENTS,
        names=_NAMES,
        wording=_WORDING,
        proposed=_PROPOSED,
    ),
    get="accounting.getClient",
    id_name="clientId",
    change=FormPage(
        operation="accounting.updateClient",
        title="Change client",
        button="Save",
        back=CLIENTS,
        names=_NAMES,
        wording=_WORDING,
        proposed=_PROPOSED,
        changes=True,
    ),
    end=QuestionPage(operation="accounting.archiveClient", button="Archive client", back=CLIENTS),
    consequences=("No new invoice can be made for them. What was made stays, and they can be taken back.",),
    ended="archived",
)
