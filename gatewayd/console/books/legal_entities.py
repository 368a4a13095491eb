"""`/books/entities`: for whom books are kept."""

from typing import Final

from gatewayd.console.addresses import ENTITIES
from gatewayd.console.components.shapes import Action, EmptyState
from gatewayd.console.operations.pages import FormPage, ListPage, QuestionPage
from gatewayd.console.operations.request_fields import Wording
from gatewayd.console.operations.resources import Resource

_NEW: Final = Action("Add a legal entity", f"{ENTITIES}/new")
_WORDING: Final = {
    "q": Wording("Name"),
    "legalName": Wording("Full name in law"),
    "utr": Wording("Unique Taxpayer Reference"),
    "nino": Wording("National Insurance number"),
}
_NAMES: Final = (
    *("name", "type", "legalName", "companyNumber", "incorporationDate", "accountingYearEnd", "utr", "nino"),
    *("vatNumber", "address", "email", "phone", "website"),
)
RESOURCE: Final = Resource(
    listed=ListPage(
        operation="legalEntity.getLegalEntities",
        title="Legal entities",
        text="People, companies and partnerships: whoever makes a return of their own.",
        address=ENTITIES,
        columns={"name": "", "type": "", "companyNumber": "", "vatNumber": "", "status": ""},
        filters=("q", "type", "status"),
        wording=_WORDING,
        href=lambda row: f"{ENTITIES}/{row['id']}",
        primary=_NEW,
        empty=EmptyState(sentence="All books are somebody's: say whose first.", action=_NEW),
    ),
    new=FormPage(
        operation="legalEntity.createLegalEntity",
        title="New legal entity",
        button="Add legal entity",
        back=ENTITIES,
        names=_NAMES,
        wording=_WORDING,
        proposed={"address.countryCode": "GB"},
    ),
    get="legalEntity.getLegalEntity",
    id_name="id",
    change=FormPage(
        operation="legalEntity.updateLegalEntity",
        title="Change legal entity",
        button="Save",
        back=ENTITIES,
        names=_NAMES,
        wording=_WORDING,
        proposed={"address.countryCode": "GB"},
        changes=True,
    ),
    end=QuestionPage(operation="legalEntity.archive", button="Archive legal entity", back=ENTITIES),
    consequences=("Nothing new is kept for it. What was kept stays, and it can be taken back.",),
    ended="archived",
)
