"""A search is of the documents of one property where it says so."""

from gatewayd.areas.businesses.operations import create_business
from gatewayd.areas.businesses.shapes import CreateBusiness
from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.store import WriteTx
from tests.ledger.lets import insert_property
from tests.search.conftest import ORG, OpenShelf
from tests.search.test_filters import finds
from tests.support.store import make_caller


def _two_houses(tx: WriteTx) -> tuple[str, str]:
    caller = make_caller(ORG)
    owner = create_legal_entity(tx, caller, CreateLegalEntity(name="Ann", type="individual")).id
    lets = create_business(tx, caller, CreateBusiness(legal_entity_id=owner, type="uk_property", name="Lets")).id
    return insert_property(tx, lets), insert_property(tx, lets)


async def test_a_property_leaves_out_the_documents_of_others(open_shelf: OpenShelf) -> None:
    async with open_shelf() as shelf:
        house, other = await shelf.store.write(_two_houses, ORG)
        own = await shelf.add("boiler", "a.txt", links=[{"type": "property", "id": house}])
        await shelf.add("boiler", "b.txt", links=[{"type": "property", "id": other}])
        await shelf.add("boiler", "c.txt")
        await finds(shelf, [own], propertyId=house)
        await finds(shelf, [], propertyId="prop_1")
