"""Certificates that were read propose the certificate of a property; people accept or dismiss it."""

from functools import partial

import pytest
from msgspec.structs import replace

from gatewayd.areas.businesses.operations import create_business
from gatewayd.areas.businesses.shapes import CreateBusiness
from gatewayd.areas.vault import trash
from gatewayd.areas.vault.parses import rows as parses
from gatewayd.areas.vault.proposals import rows
from gatewayd.errors import Problem
from gatewayd.extraction.shapes import CertificateFacts, CertificateKind, Facts
from gatewayd.store import WriteTx
from tests.areas.accounting.books import Json, fields_of
from tests.areas.landlord.landlords import Landlord
from tests.areas.vault.cabinet import Cabinet
from tests.support.document_reading import NOTHING_FOUND
from tests.support.store import MemoryStore

GAS = CertificateFacts(
    type="gas_safety",
    issued_date="2026-10-12",
    expiry_date="2027-10-12",
    reference="GS-1042",
    issuer="Avon Heating",
    issuer_registration="512345",
    rating=None,
    score=None,
    result="pass",
    address="12 Oak Street, Bristol BS1 4DJ",
    postcode="BS1 4DJ",
)
EPC = replace(GAS, type="epc", expiry_date="2036-10-11", reference=None, rating="C", score=72, result=None)


@pytest.fixture
def landlord(cabinet: Cabinet) -> Landlord:
    """The lets of the organization whose vault it is."""
    lets = Landlord(cabinet.store, "Another Ltd")
    lets.org_id, lets.caller = cabinet.org_id, cabinet.caller
    return lets


def house(landlord: Landlord, line1: str = "12 Oak Street", postcode: str = "bs14dj", **fields: object) -> str:
    request = CreateBusiness(legal_entity_id=landlord.unregistered_entity(), type="uk_property", name="Lets")
    business_id = landlord.store.write(lambda tx: create_business(tx, landlord.caller, request), landlord.org_id).id
    address = {"line1": line1, "postcode": postcode, "countryCode": "GB", **fields}
    body = {"businessId": business_id, "type": "house", "name": line1, "address": address}
    return str(landlord.post("createProperty", **body)["id"])


def record(cabinet: Cabinet, certificate: CertificateFacts = GAS, **fields: object) -> str:
    """A document that was read as a certificate."""
    document_id = str(cabinet.document("record.pdf", b"paper", **fields)["id"])
    facts = replace(NOTHING_FOUND, kind="certificate", date=certificate.issued_date, certificate=certificate)
    cabinet.store.write(partial(_end, document_id=document_id, facts=facts), cabinet.org_id)
    return document_id


def _end(tx: WriteTx, document_id: str, facts: Facts) -> None:
    n, _ = parses.begin(tx, document_id)
    assert parses.succeed(tx, document_id, n, 12, ("plain", "en", facts))
    rows.note(tx, document_id, facts)


def proposed(cabinet: Cabinet, document_id: str) -> list[Json]:
    found, _ = cabinet.get("listProposals", f"documentId={document_id}")
    return [each["certificate"] | {"of": each["score"]} for one in found for each in one["proposals"]]


def places(cabinet: Cabinet, document_id: str) -> list[tuple[str, str | None]]:
    return [(each["propertyId"], each["unitId"]) for each in proposed(cabinet, document_id)]


def refusal(cabinet: Cabinet, operation: str = "acceptCertificate", **body: object) -> Problem:
    with pytest.raises(Problem) as caught:
        cabinet.post(operation, **body)
    return caught.value


def test_a_record_proposes_the_certificate_of_its_property(cabinet: Cabinet, landlord: Landlord) -> None:
    property_id, document_id = house(landlord), record(cabinet)
    house(landlord, "14 Oak Street")
    house(landlord, "12 Elm Row", "BS1 4DK")
    (found,), _ = cabinet.get("listProposals", "kind=certificate")
    assert (found["documentId"], found["documentKind"]) == (document_id, "certificate")
    (proposal,) = found["proposals"]
    assert (proposal["kind"], proposal["reason"]) == ("certificate", "It has the postcode and the number.")
    assert proposal["certificate"] == {
        "propertyId": property_id,
        "propertyName": "12 Oak Street",
        "unitId": None,
        "type": "gas_safety",
        "issuedDate": "2026-10-12",
        "expiryDate": "2027-10-12",
        "reference": "GS-1042",
        "issuerName": "Avon Heating",
        "issuerRegistration": "512345",
        "result": "satisfactory",
        "rating": None,
        "score": None,
        "address": "12 Oak Street, Bristol BS1 4DJ",
    }
    assert landlord.get("listCertificates")[0] == [], "nothing is done by itself"
    assert cabinet.get("listProposals", "kind=bank_line")[0] == []


@pytest.mark.parametrize(
    ("own", "read", "is_proposed"),
    [
        ("12 Oak Street", "12 Oak St, Bristol", True),
        ("12a Oak Street", "12A Oak Street", True),
        ("Flat 2, 12 Oak Street", "12 OAK STREET FLAT 2", True),
        ("Flat B, 12 Oak Street", "flat b 12 oak street", True),
        ("Ground Floor Flat, 12 Oak Street", "Ground Floor Flat 12 Oak St", True),
        ("Rose Cottage", "Rose Cottage, Mill Lane", True),
        ("12 Oak Street", "Flat 2, 12 Oak Street", True),
        ("12 Oak Street", None, True),
        ("12 Oak Street", "112 Oak Street", False),
        ("12 Oak Street", "Oak Street", False),
        ("Flat 2, 12 Oak Street", "12 Oak Street", False),
        ("Flat 2, 12 Oak Street", "Flat 3, 12 Oak Street", False),
        ("Flat B, 12 Oak Street", "Flat C, 12 Oak Street", False),
        ("Ground Floor Flat, 12 Oak Street", "First Floor Flat, 12 Oak Street", False),
        ("Rose Cottage", "Ivy Cottage, Mill Lane", False),
    ],
)
def test_number_or_name_tells_homes_of_a_postcode_apart(
    cabinet: Cabinet, landlord: Landlord, own: str, read: str | None, is_proposed: bool
) -> None:
    house(landlord, own)
    assert bool(proposed(cabinet, record(cabinet, replace(GAS, address=read)))) is is_proposed


def test_candidates_are_listed_the_surest_first_and_none_where_nobody_can_tell(
    cabinet: Cabinet, landlord: Landlord
) -> None:
    whole, flat = house(landlord), house(landlord, "Flat 2, 12 Oak Street")
    document_id = record(cabinet, replace(GAS, address="Flat 2, 12 Oak Street"))
    assert places(cabinet, document_id) == [(flat, None), (whole, None)]
    assert proposed(cabinet, record(cabinet, replace(GAS, address=None))) == [], "two have the postcode"
    unit_id = str(landlord.post("createPropertyUnit", propertyId=whole, name="Flat 3")["id"])
    assert places(cabinet, record(cabinet, replace(GAS, address="Flat 3, 12 Oak St"))) == [(whole, unit_id)]


@pytest.mark.parametrize("changes", [{"type": "other"}, {"postcode": None}])
def test_what_is_of_no_property_is_not_listed(cabinet: Cabinet, landlord: Landlord, changes: dict[str, str]) -> None:
    house(landlord)
    record(cabinet, replace(GAS, **changes))
    assert cabinet.get("listProposals")[0] == []


def test_to_accept_makes_the_certificate_with_its_document(cabinet: Cabinet, landlord: Landlord) -> None:
    property_id, document_id = house(landlord), record(cabinet, EPC)
    made = cabinet.post("acceptCertificate", documentId=document_id, propertyId=property_id)
    (kept,), _ = landlord.get("listCertificates")
    assert kept == made
    assert (made["documentId"], made["type"], made["rating"], made["score"]) == (document_id, "epc", "C", 72)
    assert (made["issuedDate"], made["expiryDate"], made["status"]) == ("2026-10-12", "2036-10-11", "valid")
    shown = cabinet.one("getDocument", f"documentId={document_id}")
    assert [(link["type"], link["id"]) for link in shown["links"]] == [
        ("certificate", made["id"]),
        ("property", property_id),
    ]
    assert cabinet.get("listProposals")[0] == []
    again = cabinet.post("acceptCertificate", documentId=document_id, propertyId=property_id)
    assert again == made, "to accept it again changes nothing"
    assert len(landlord.get("listCertificates", "includeSuperseded=true")[0]) == 1
    elsewhere = house(landlord, "14 Oak Street")
    for refused in (
        refusal(cabinet, documentId=document_id, propertyId=elsewhere),
        refusal(cabinet, "dismissProposal", documentId=document_id),
    ):
        assert refused.code == "invalid_state"


@pytest.mark.parametrize(("read", "kept"), [("pass", "satisfactory"), ("fail", "unsatisfactory"), (None, None)])
def test_what_was_found_is_the_result(cabinet: Cabinet, landlord: Landlord, read: str | None, kept: str | None) -> None:
    property_id, document_id = house(landlord), record(cabinet, replace(GAS, type="eicr", result=read))
    made = cabinet.post("acceptCertificate", documentId=document_id, propertyId=property_id)
    assert made["result"] == kept
    assert (made["remedialDueDate"] is not None) is (kept == "unsatisfactory"), "faults are to be mended in 28 days"


def test_whoever_accepts_may_say_what_was_not_found(cabinet: Cabinet, landlord: Landlord) -> None:
    property_id = house(landlord)
    document_id = record(cabinet, replace(GAS, issued_date=None, expiry_date=None))
    body: Json = {"documentId": document_id, "propertyId": property_id}
    assert ("issuedDate", "required") in fields_of(refusal(cabinet, **body))
    assert ("issuedDate", "out_of_range") in fields_of(refusal(cabinet, **body, issuedDate="2026-11-21"))
    assert landlord.get("listCertificates")[0] == [], "what is refused leaves nothing"
    made = cabinet.post("acceptCertificate", **body, issuedDate="2026-11-02", expiryDate="2027-11-01")
    assert (made["issuedDate"], made["expiryDate"]) == ("2026-11-02", "2027-11-01")


def test_the_date_that_a_person_gave_goes_before_the_one_that_was_read(cabinet: Cabinet, landlord: Landlord) -> None:
    house(landlord)
    (found,) = proposed(cabinet, record(cabinet, documentDate="2026-10-14"))
    assert found["issuedDate"] == "2026-10-14"


def test_nonsense_of_a_strangers_file_is_left_out(cabinet: Cabinet, landlord: Landlord) -> None:
    house(landlord)
    nonsense = replace(
        EPC, reference="9" * 81, issuer="", issuer_registration="x" * 41, rating="Z", score=0, expiry_date="soon"
    )
    (found,) = proposed(cabinet, record(cabinet, nonsense))
    names = ("reference", "issuerRegistration", "rating", "score", "expiryDate", "issuerName")
    assert [found[name] for name in names] == [None] * 6


@pytest.mark.parametrize(
    ("kind", "expiry"),
    [
        ("fire_risk_assessment", "2027-10-11"),
        ("legionella_assessment", "2028-10-11"),
        ("pat", "2027-10-11"),
        ("emergency_lighting", "2027-10-11"),
        ("fire_alarm", "2027-04-11"),
        ("hmo_licence", "2031-10-11"),
        ("additional_licence", "2031-10-11"),
        ("selective_licence", "2031-10-11"),
    ],
)
def test_what_else_landlords_keep_is_proposed(
    cabinet: Cabinet, landlord: Landlord, kind: CertificateKind, expiry: str
) -> None:
    """Domain B4: to the eve of so many months or years from its day, where it does not say until when it holds."""
    property_id = house(landlord)
    document_id = record(cabinet, replace(GAS, type=kind, expiry_date=None, result=None, reference=None))
    (found,) = proposed(cabinet, document_id)
    assert (found["type"], found["issuedDate"], found["expiryDate"]) == (kind, "2026-10-12", None)
    made = cabinet.post("acceptCertificate", documentId=document_id, propertyId=property_id)
    assert (made["type"], made["expiryDate"], made["documentId"]) == (kind, expiry, document_id)


def test_what_is_kept_already_is_not_proposed(cabinet: Cabinet, landlord: Landlord) -> None:
    property_id = house(landlord)
    by_day, by_number = record(cabinet), record(cabinet, replace(GAS, issued_date="2026-10-13"))
    by_document = record(cabinet, replace(GAS, issued_date="2026-10-13", reference="GS-7"))
    other = record(cabinet, replace(GAS, issued_date="2025-10-13", reference="GS-8"))
    body = {"propertyId": property_id, "type": "gas_safety", "issuedDate": "2026-10-12", "reference": "GS-1042"}
    landlord.post("createCertificate", **body, documentId=by_document)
    assert [bool(proposed(cabinet, each)) for each in (by_day, by_number, by_document, other)] == [0, 0, 0, 1]


def test_what_became_of_property_and_document_meanwhile(cabinet: Cabinet, landlord: Landlord) -> None:
    archived, kept = house(landlord), house(landlord, "14 Oak Street")
    document_id = record(cabinet)
    landlord.post("updateProperty", id=archived, status="archived")
    assert proposed(cabinet, document_id) == []
    assert refusal(cabinet, documentId=document_id, propertyId=archived).code == "invalid_state"
    assert ("propertyId", "conflict") in fields_of(refusal(cabinet, documentId=document_id, propertyId=kept))
    landlord.post("updateProperty", id=archived, status="active")
    cabinet.post("deleteDocument", documentId=document_id)
    gone = refusal(cabinet, documentId=document_id, propertyId=archived)
    assert ("documentId", "unknown_reference") in fields_of(gone)
    plain = cabinet.document("plain.txt")["id"]
    assert refusal(cabinet, documentId=plain, propertyId=archived).code == "invalid_state"


def test_what_was_dismissed_is_not_accepted(cabinet: Cabinet, landlord: Landlord) -> None:
    property_id, document_id = house(landlord), record(cabinet)
    cabinet.post("dismissProposal", documentId=document_id)
    assert cabinet.get("listProposals")[0] == []
    assert refusal(cabinet, documentId=document_id, propertyId=property_id).code == "invalid_state"


def test_a_document_has_at_most_twenty_links(cabinet: Cabinet, landlord: Landlord) -> None:
    property_id, document_id = house(landlord), record(cabinet)
    entity_id = cabinet.unregistered_entity()
    links = [{"type": "business", "id": cabinet.business(entity_id)} for _ in range(19)]
    cabinet.post("updateDocument", documentId=document_id, links=links)
    refused = refusal(cabinet, documentId=document_id, propertyId=property_id)
    assert (refused.code, refused.extra) == ("limit_reached", {"limit": 20})
    assert landlord.get("listCertificates")[0] == []
    cabinet.post("updateDocument", documentId=document_id, links=links[1:])
    cabinet.post("acceptCertificate", documentId=document_id, propertyId=property_id)
    assert len(cabinet.one("getDocument", f"documentId={document_id}")["links"]) == 20


def test_nothing_is_seen_or_made_for_another_organization(
    cabinet: Cabinet, landlord: Landlord, store: MemoryStore
) -> None:
    property_id, document_id = house(landlord), record(cabinet)
    other = Cabinet(store, "Elm Ltd")
    foreign = record(other)
    assert proposed(other, foreign) == [], "the property is somebody else's"
    assert ("propertyId", "unknown_reference") in fields_of(refusal(other, documentId=foreign, propertyId=property_id))
    assert ("documentId", "unknown_reference") in fields_of(
        refusal(other, documentId=document_id, propertyId=property_id)
    )


def test_a_certificate_goes_and_its_document_stays_decided(cabinet: Cabinet, landlord: Landlord) -> None:
    property_id, document_id = house(landlord), record(cabinet)
    made = cabinet.post("acceptCertificate", documentId=document_id, propertyId=property_id)
    landlord.post("deleteCertificate", id=made["id"])
    assert refusal(cabinet, documentId=document_id, propertyId=property_id).code == "invalid_state"
    cabinet.post("deleteDocument", documentId=document_id)
    cabinet.store.write(partial(trash.forget, document_id=document_id), cabinet.org_id)
    assert cabinet.store.read(partial(rows.find, document_id=document_id), cabinet.org_id) is None
