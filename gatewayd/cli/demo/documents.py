"""The firm's papers: a supplier's invoice is uploaded, given to the accountant, and found by a word and by meaning.

A gas safety record is read, proposed for the house that lacks it, and accepted.
"""

import datetime
import hashlib
from collections.abc import Callable
from typing import Any, Final

import trio

from gatewayd.cli.demo.firm import Firm
from gatewayd.cli.demo.http import ApiClient, DemoFailed
from gatewayd.cli.demo.lets import POSTCODE, WITHOUT_GAS_RECORD
from gatewayd.clock import days_after

READ_SECONDS: Final = 30.0  # Chosen: the longest that a document is read
LOOK_SECONDS: Final = 0.1
_MONTH: Final = 30 * 24 * 3600  # seconds
INVOICE_NAME: Final = "NH-20417.pdf"
_INVOICE: Final = (
    "Northern Hardwoods Ltd",
    "14 Canal Wharf, Leeds LS11 5PS    VAT GB 123 4567 82",
    "Invoice NH-20417 of {date}",
    "12 boards of quarter-sawn ash, kiln dried       427.00",
    "VAT 20 %       85.40",
    "Total due       GBP 512.40",
)
_LETTER: Final = "Dear customer,\nthe cover of your van is renewed from the first of next month. No claims were made.\n"
_RECORD: Final = (
    "Landlord Gas Safety Record",
    "Record no: {number}",
    "Property address: {place}",
    "Gas Safe registration no: 512048",
    "Date of inspection: {inspected}",
    "Next inspection due: {due}",
    "Appliance safe to use: Yes",
)
_DAYS_BEFORE: Final = 14
"""How long before it is uploaded the invoice is of."""
_WORD, _MEANING = "quarter-sawn", "what did we pay for wood"


def pdf_of(lines: tuple[str, ...]) -> bytes:
    """A PDF of one page (ISO 32000-1), with its lines one below the other. They are ASCII."""
    escaped = [line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in lines]
    text = " ".join(f"({line}) Tj T*" for line in escaped)
    drawn = f"BT /F1 12 Tf 18 TL 72 760 Td {text} ET"
    objects = (
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        " /Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    pdf, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(pdf))
        pdf += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{len(pdf)}\n%%EOF\n"
    return f"{pdf}xref\n0 {size}\n0000000000 65535 f \n{table}{end}".encode("ascii")


def gas_record(place: str, number: str, inspected: str, due: str) -> tuple[str, ...]:
    """The lines of a landlord's gas safety record. `place` is an address; the days are ISO."""
    return tuple(line.format(place=place, number=number, inspected=inspected, due=due) for line in _RECORD)


class DocumentsScene:
    """The shop, with a key that reads and writes its vault."""

    def __init__(self, api: ApiClient, firm: Firm, meaning_seconds: float = READ_SECONDS) -> None:
        """`meaning_seconds` is how long what knows meanings is waited for."""
        self._firm = firm
        self._api = api
        self._meaning_seconds = meaning_seconds

    async def run(self, today: str, say: Callable[[str], None]) -> None:
        """All of it, told as it goes. `today` is ISO. Raises `DemoFailed`."""
        folder = await self._api.post("/vault/folders", {"name": "Suppliers"})
        dated = datetime.date.fromisoformat(days_after(today, -_DAYS_BEFORE))
        content = pdf_of(tuple(line.format(date=f"{dated.day} {dated:%B %Y}") for line in _INVOICE))
        invoice = await self.upload(INVOICE_NAME, content, folder["id"])
        policies = await self._api.post("/vault/folders", {"name": "Insurance"})
        letter = await self.upload("insurance.txt", _LETTER.encode(), policies["id"])
        say(f"12. A supplier's invoice, {len(content)} bytes of PDF, is uploaded to a URL of its own and confirmed;")
        say("     it is kept as long as the law wants, for it belongs to the books.")
        await self._give_away(invoice, content, say)
        await self._find(invoice, letter, say)
        await self._accept_record(today, say)

    async def send(self, name: str, content: bytes, folder_id: str | None) -> str:
        """Send the bytes of a document, which is nobody's before it is confirmed; answers its id."""
        link = {"type": "business", "id": self._firm.business_id}
        made = await self._api.post("/vault/documents", {"name": name, "folderId": folder_id, "links": [link]})
        upload = made["upload"]
        (await self._api.http.put_file(upload["url"], content, upload["headers"])).expect()
        return str(made["document"]["id"])

    async def upload(self, name: str, content: bytes, folder_id: str | None) -> str:
        """Send a document and confirm it; answers its id. Raises `DemoFailed`."""
        document_id = await self.send(name, content, folder_id)
        said = {"sizeBytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        document = await self._api.post(f"/vault/documents/{document_id}/confirm-upload", said)
        if document["status"] != "uploaded" or document["archiveUntilDate"] is None:
            raise DemoFailed(f"the document is not kept: {document}")
        return str(document["id"])

    async def _give_away(self, document_id: str, content: bytes, say: Callable[[str], None]) -> None:
        link = await self._api.post(
            f"/vault/documents/{document_id}/temporal-link", {"expiresInSeconds": 3600, "maxDownloads": 1}
        )
        got = (await self._api.http.get(link["url"])).expect()
        (await self._api.http.get(link["url"])).expect(404)
        if got.body != content:
            raise DemoFailed("the link gave other bytes")
        say("     A link for one download gives it to the accountant, and nothing to whoever comes second.")
        mine = await self._api.get(f"/vault/documents/{document_id}/download")
        if (await self._api.http.get(mine["url"])).expect().body != content:
            raise DemoFailed("the download gave other bytes")
        await self._api.post("/vault/toggleDocumentStar", {"documentId": document_id, "starred": True})
        lasting = {"expiresInSeconds": _MONTH, "maxDownloads": 20}
        link = await self._api.post(f"/vault/documents/{document_id}/temporal-link", lasting)
        say(f"     This one is good for a month: {link['url']}")

    async def _find(self, invoice: str, letter: str, say: Callable[[str], None]) -> None:
        for document_id in (invoice, letter):
            await self.await_text(document_id)
        answer = await self._search(_WORD, invoice, READ_SECONDS)
        say(f'     Found by a word of it: "{_WORD}" in "{answer["data"][0]["snippets"][0]["text"]}".')
        answer = await self._search(_MEANING, invoice, self._meaning_seconds)
        if answer["modeUsed"] == "text":
            say(f"     Not by its meaning: {answer['warnings'][0]['message']}")
        else:
            say(f'     Found by its meaning: "{_MEANING}".')

    async def _accept_record(self, today: str, say: Callable[[str], None]) -> None:
        inspected, due = days_after(today, -3), days_after(today, 362)
        lines = gas_record(f"{WITHOUT_GAS_RECORD}, Leeds, {POSTCODE}", "GS-20417", inspected, due)
        document_id = await self.upload("gas-safety.pdf", pdf_of(lines), None)
        await self.await_text(document_id)
        (proposing,) = (await self._api.get("/vault/proposals", {"documentId": document_id}))["data"]
        (proposal,) = proposing["proposals"]
        proposed = proposal["certificate"]
        accepted = {"documentId": document_id, "propertyId": proposed["propertyId"]}
        made = await self._api.post("/vault/proposals/accept-certificate", accepted)
        missing = (await self._api.get("/landlord/listCertificates", {"status": "missing"}))["data"]
        if (made["issuedDate"], made["expiryDate"]) != (inspected, due) or missing:
            raise DemoFailed(f"the record is not the certificate that was missing: {made}, {missing}")
        say(f"     A gas safety record is read and proposed for {proposed['propertyName']}: {proposal['reason']}")
        say(f"     Accepted, it is the house's certificate until {made['expiryDate']}, and none is missing any more.")

    async def _search(self, query: str, wanted: str, seconds: float) -> dict[str, Any]:
        """What is found, once it is the wanted document first; by words alone where there is nothing else to wait for.

        The index follows a document in some moments; what knows meanings takes seconds to load.
        """
        deadline = trio.current_time() + seconds
        while True:
            answer = await self._api.post("/vault/search", {"q": query})
            if [hit["document"]["id"] for hit in answer["data"]][:1] == [wanted]:
                return answer
            if trio.current_time() >= deadline:
                break
            await trio.sleep(LOOK_SECONDS)
        if answer["modeUsed"] != "text":
            raise DemoFailed(f"{query} does not find the invoice: {answer}")
        return answer

    async def await_text(self, document_id: str) -> None:
        """Wait until its text is known. Raises `DemoFailed`."""
        with trio.move_on_after(READ_SECONDS):
            while True:
                document = await self._api.get(f"/vault/documents/{document_id}")
                status = document.get("parse", {}).get("status")
                if status in ("failed", "skipped"):
                    raise DemoFailed(f"the document was not read: {document['parse']}")
                if status == "succeeded":
                    return
                await trio.sleep(LOOK_SECONDS)
        raise DemoFailed(f"the document is not read after {READ_SECONDS:.0f} seconds")
