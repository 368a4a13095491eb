"""What belongs to the books stays until the law lets it go; and how much the vault holds is known."""

from gatewayd.areas.vault import trash
from gatewayd.areas.vault.documents import usage
from gatewayd.areas.vault.documents.usage import Usage
from gatewayd.clock import DAY, Instant
from tests.areas.accounting.books import Json
from tests.areas.vault.cabinet import Cabinet

YEAR = 366 * DAY


def emptied(cabinet: Cabinet) -> list[str]:
    """What is left in the trash when all of it is old."""
    cabinet.store.clock.advance(31 * DAY)
    before = Instant(cabinet.store.now() - 30 * DAY)
    cabinet.store.write(lambda tx: trash.purge_some(tx, before))
    return cabinet.names("listTrash")


def of_the_books(cabinet: Cabinet, name: str, **fields: object) -> tuple[Json, str]:
    """A document of a business of a sole trader, and the business."""
    entity_id = cabinet.entity(type="sole_trader", vat={"status": "not_registered"})
    business_id = cabinet.business(entity_id)
    return cabinet.document(name, name.encode(), links=[{"type": "business", "id": business_id}], **fields), business_id


def test_what_belongs_to_the_books_is_kept(cabinet: Cabinet) -> None:
    document, _ = of_the_books(cabinet, "bill", documentDate="2025-05-01")
    other = cabinet.document("holiday", b"holiday")
    assert (document["archiveUntilDate"], other["archiveUntilDate"]) == ("2032-01-31", None)
    for each in (document, other):
        cabinet.post("deleteDocument", documentId=each["id"])
    assert emptied(cabinet) == ["bill"]
    assert cabinet.post("restoreDocument", documentId=document["id"])["status"] == "uploaded"
    cabinet.post("deleteDocument", documentId=document["id"])
    cabinet.store.clock.advance(8 * YEAR)
    assert emptied(cabinet) == []


def test_it_follows_links_and_date(cabinet: Cabinet) -> None:
    document, business_id = of_the_books(cabinet, "bill")
    later = cabinet.post("updateDocument", documentId=document["id"], documentDate="2024-05-01")
    assert later["archiveUntilDate"] == "2031-01-31"
    loose = cabinet.post("updateDocument", documentId=document["id"], links=[])
    assert loose["archiveUntilDate"] is None
    link = {"type": "business", "id": business_id}
    tied = cabinet.post("updateDocument", documentId=document["id"], links=[link])
    assert tied["archiveUntilDate"] == "2031-01-31"


def test_what_became_of_the_books_since_counts_at_the_end(cabinet: Cabinet) -> None:
    """A second entity whose records are kept for longer."""
    document, _ = of_the_books(cabinet, "bill", documentDate="2020-02-01")
    assert document["archiveUntilDate"] == "2026-01-31", "which is over"
    cabinet.post("deleteDocument", documentId=document["id"])
    cabinet.unregistered_entity(
        type="limited_company", companyNumber="09876543", accountingYearEnd={"month": 1, "day": 31}
    )
    assert emptied(cabinet) == ["bill"]
    (kept,) = cabinet.walk("listTrash", "")
    assert kept["archiveUntilDate"] == "2027-01-31"
    cabinet.store.clock.advance(YEAR)
    assert emptied(cabinet) == []


def test_what_is_kept_is_known_without_adding_up(cabinet: Cabinet) -> None:
    def both() -> tuple[Usage, Usage]:
        read = cabinet.store.read
        return read(usage.of_organization, cabinet.org_id), read(usage.counted, cabinet.org_id)

    assert both() == (Usage(0, 0), Usage(0, 0))
    cabinet.record("pending")
    first, second = cabinet.document("a", b"12345"), cabinet.document("b", b"12345")
    assert both() == (Usage(2, 10), Usage(2, 10))
    cabinet.post("deleteDocument", documentId=first["id"])
    assert both() == (Usage(2, 10), Usage(2, 10)), "the trash takes room"
    assert emptied(cabinet) == []
    assert both() == (Usage(1, 5), Usage(1, 5))
    cabinet.post("deleteDocument", documentId=second["id"])
    emptied(cabinet)
    assert both() == (Usage(0, 0), Usage(0, 0))
