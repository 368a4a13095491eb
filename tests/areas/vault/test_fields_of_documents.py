"""What is said of a document goes before what its name says; and lists of the vault, page by page."""

import pytest

from gatewayd.clock import HOUR
from gatewayd.errors import Problem
from tests.areas.accounting.books import fields_of
from tests.areas.landlord.landlords import Landlord
from tests.areas.vault.cabinet import Cabinet
from tests.areas.vault.test_certificate_proposals import house, landlord, record
from tests.areas.vault.test_parses import DAMAGED, attempt

__all__ = ["landlord"]


def test_the_type_that_is_said_goes_before_the_name(cabinet: Cabinet) -> None:
    made = cabinet.record("notes.txt", mimeType="application/pdf")
    assert made["document"]["mimeType"] == "application/pdf"
    assert made["upload"]["headers"] == {"Content-Type": "application/pdf"}


def test_a_folder_is_asked_for_the_document_of_an_external_id(cabinet: Cabinet) -> None:
    folder = cabinet.folder("Bills")
    for name in ("a", "b"):
        cabinet.document(f"{name}.pdf", name.encode(), folderId=folder, externalId=f"x-{name}")
    assert cabinet.names("getFolderDocuments", f"folderId={folder}&externalId=x-b") == ["b.pdf"]
    assert cabinet.names("getFolderDocuments", f"folderId={folder}&externalId=x-c") == []


def test_attempts_come_page_by_page(cabinet: Cabinet) -> None:
    document_id = cabinet.document()["id"]
    for _ in range(3):
        attempt(cabinet, document_id, DAMAGED)
        cabinet.store.clock.advance(HOUR)
    first, cursor = cabinet.get("listParseAttempts", f"documentId={document_id}&limit=2")
    rest, end = cabinet.get("listParseAttempts", f"documentId={document_id}&limit=2&cursor={cursor}")
    assert ([one["n"] for one in first], [one["n"] for one in rest], end) == ([3, 2], [1], None)


def test_whoever_accepts_a_certificate_may_name_the_unit(cabinet: Cabinet, landlord: Landlord) -> None:
    property_id = house(landlord)
    unit_id = landlord.unit(property_id)
    first, second = record(cabinet), record(cabinet)
    with pytest.raises(Problem) as caught:
        cabinet.post("acceptCertificate", documentId=first, propertyId=property_id, unitId="unit_1")
    assert fields_of(caught.value) == [("unitId", "unknown_reference")]
    made = cabinet.post("acceptCertificate", documentId=first, propertyId=property_id, unitId=unit_id)
    assert (made["propertyId"], made["unitId"]) == (property_id, unit_id)
    whole = cabinet.post("acceptCertificate", documentId=second, propertyId=property_id, unitId=None)
    assert whole["unitId"] is None
