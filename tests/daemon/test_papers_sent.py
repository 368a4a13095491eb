"""A daemon that sends papers: by mail to a real server with the PDF, by a link to whoever has it."""

import io
import re
from pathlib import Path
from typing import Any

import httpx
import pypdf

from tests.daemon.instance import Firm, Instance, Running, plain_client, serving, until
from tests.daemon.test_mail import SETTINGS
from tests.mail.serving import MailServer, Taken, mail_server

API = "/api/rpc"
CLIENT = "accounts@harbour.example"
LINE = {"description": "Joinery", "unitPrice": "1234.50"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def call(running: Running, firm: Firm, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    reply = running.call(firm.key, method, f"{API}{path}", body)
    assert reply.status_code == 200, reply.text
    answer: dict[str, Any] = reply.json()
    return answer


def invoice(running: Running, firm: Firm, **fields: object) -> dict[str, Any]:
    body = {"clientId": firm.client_id, "status": "issued", "lines": [LINE], **fields}
    return call(running, firm, "POST", "/invoices", body)


def came(server: MailServer, to: str) -> Taken | None:
    return next((each for each in server.taken() if each.to == to), None)


def words_of(mail: Taken) -> str:
    """What the PDF says that is attached."""
    [attached] = mail.message.iter_attachments()
    assert attached.get_content_type() == "application/pdf"
    content = attached.get_content()
    assert isinstance(content, bytes)
    return " ".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(content)).pages)


def link_in(mail: Taken) -> str:
    found = re.search(r"https?://\S+(/i/gwd_i_[\w-]+)", mail.text())
    assert found is not None, mail.text()
    return found[1]


def answer(stranger: httpx.Client, page: str, action: str, **values: str) -> httpx.Response:
    """Send the form of a page as a browser would."""
    token = re.search(r'name="csrf" value="([^"]+)"', page)
    assert token is not None
    return stranger.post(action, data={"csrf": token[1], **values}, headers=FORM)


def test_an_invoice_is_mailed_with_its_pdf_and_opened_by_its_link(tmp_path: Path) -> None:
    with mail_server(tmp_path / "smtp") as server:
        instance = Instance(tmp_path, SETTINGS.format(port=server.port))
        firm = instance.firm()
        with serving(instance) as running:
            made = invoice(running, firm)
            sent = call(running, firm, "POST", f"/invoices/{made['id']}/send", {"to": [CLIENT]})
            assert sent["status"] == "sent"
            mail = until(lambda: came(server, CLIENT))
            assert made["number"] in words_of(mail)
            assert "1,234.50" in words_of(mail)
            until(lambda: call(running, firm, "GET", f"/sendings/{made['id']}")["mails"][0]["status"] == "sent")
            kept = call(running, firm, "GET", f"/invoices/{made['id']}")
            assert kept["pdfDocumentId"] is not None
            assert kept["viewedAt"] is None
            with plain_client(running.url) as stranger:
                page = stranger.get(link_in(mail))
                assert (page.status_code, "£1,234.50" in page.text) == (200, True)
                assert page.headers["referrer-policy"] == "no-referrer"
                assert "noindex" in page.text
                file = stranger.get(f"{link_in(mail)}/invoice.pdf")
                assert (file.status_code, file.content[:5]) == (200, b"%PDF-")
                assert stranger.get("/i/gwd_i_nothing").status_code == 404
            assert call(running, firm, "GET", f"/invoices/{made['id']}")["viewedAt"] is not None
            log = repr(running.lines())
        assert "gwd_i_" not in log
        assert b"gwd_i_" not in instance.stored()


def test_a_quote_is_mailed_accepted_by_its_client_and_invoiced(tmp_path: Path) -> None:
    with mail_server(tmp_path / "smtp") as server:
        instance = Instance(tmp_path, SETTINGS.format(port=server.port))
        firm = instance.firm()
        with serving(instance) as running:
            made = call(running, firm, "POST", "/quotes", {"clientId": firm.client_id, "lines": [LINE]})
            call(running, firm, "POST", f"/quotes/{made['id']}/send", {"to": [CLIENT], "issue": True})
            mail = until(lambda: came(server, CLIENT))
            assert "Holds until" in words_of(mail)
            with plain_client(running.url) as stranger:
                link = link_in(mail)
                page = stranger.get(link)
                assert "Accept quote" in page.text
                done = answer(stranger, page.text, f"{link}/accept", name="Harry Harbour")
                assert (done.status_code, done.headers["location"]) == (303, link)
            found = call(running, firm, "GET", f"/quotes/{made['id']}")
            assert (found["status"], found["answeredBy"]) == ("accepted", "Harry Harbour")
            assert call(running, firm, "POST", f"/quotes/{made['id']}/invoice", {"status": "issued"})["number"]


def test_a_kill_before_the_mail_goes_out_loses_nothing(tmp_path: Path) -> None:
    """The letter is in the database, and its PDF is made by whoever sends it."""
    with mail_server(tmp_path / "smtp") as server:
        instance = Instance(tmp_path, SETTINGS.format(port=1))  # where nobody takes it
        firm = instance.firm()
        with serving(instance) as running:
            made = invoice(running, firm)
            call(running, firm, "POST", f"/invoices/{made['id']}/send", {"to": [CLIENT]})
            running.terminate(9)
        instance.config.write_text(instance.config.read_text().replace("port = 1\n", f"port = {server.port}\n"))
        with serving(instance):
            mail = until(lambda: came(server, CLIENT))
        assert made["number"] in words_of(mail)
        assert len([each for each in server.taken() if each.to == CLIENT]) == 1


def test_a_statement_is_of_the_days_for_which_it_was_asked_also_after_a_kill(tmp_path: Path) -> None:
    with mail_server(tmp_path / "smtp") as server:
        instance = Instance(tmp_path, SETTINGS.format(port=1))  # where nobody takes it
        firm = instance.firm()
        with serving(instance) as running:
            made = invoice(running, firm)
            path = f"/clients/{firm.client_id}/statement/send"
            sent = call(running, firm, "POST", path, {"to": [CLIENT], "fromDate": "2026-01-01"})
            assert sent["fromDate"] == "2026-01-01"
            running.terminate(9)
        instance.config.write_text(instance.config.read_text().replace("port = 1\n", f"port = {server.port}\n"))
        with serving(instance):
            mail = until(lambda: came(server, CLIENT))
        words = " ".join(words_of(mail).split())
        assert made["number"] in words
        assert "Balance due £1,481.40" in words  # 1,234.50 and VAT at 20%
        assert "From 1 January 2026" in words
        assert "£1,481.40" in mail.text()
        assert "/i/gwd_i_" not in mail.text()


def test_what_was_voided_meanwhile_is_not_sent_and_a_bounce_is_told(tmp_path: Path) -> None:
    with mail_server(tmp_path / "smtp") as server:
        instance = Instance(tmp_path, SETTINGS.format(port=1))
        firm = instance.firm()
        with serving(instance) as running:
            made, other = invoice(running, firm), invoice(running, firm)
            call(running, firm, "POST", f"/invoices/{made['id']}/send", {"to": [CLIENT]})
            call(running, firm, "POST", f"/invoices/{made['id']}/void", {"reason": "Made out twice"})
            running.terminate(9)
        instance.config.write_text(instance.config.read_text().replace("port = 1\n", f"port = {server.port}\n"))
        with serving(instance) as running:
            call(running, firm, "POST", f"/invoices/{other['id']}/send", {"to": ["gone-b@harbour.example"]})

            def ended(invoice_id: str, status: str) -> str | None:
                [mail] = call(running, firm, "GET", f"/sendings/{invoice_id}")["mails"]
                return str(mail["lastError"]) if mail["status"] == status else None

            assert "voided" in until(lambda: ended(made["id"], "failed"))
            assert until(lambda: ended(other["id"], "bounced")) == "5.1.1 Nobody here by that name"
        assert came(server, CLIENT) is None
