"""Seals of a period: what is in a bundle, when it is another, and who may read it (Domain F.14)."""

import base64
import hashlib
import io
import os
import subprocess
import sys
import zipfile
from collections import defaultdict
from decimal import Decimal
from functools import partial
from pathlib import Path

import msgspec
import pytest
from jwt import PyJWK, PyJWS

from gatewayd.areas.vault.documents import uploads
from gatewayd.bundles import engine, sheets, writing
from gatewayd.bundles.archive import BundleFault, verify
from gatewayd.bundles.engine import SWEEP_EVERY, Bundles
from gatewayd.bundles.manifest import Manifest
from gatewayd.clock import SECOND
from gatewayd.errors import Problem
from gatewayd.store.files.blobs import Blobs
from tests.bundles.conftest import FORMULA, OpenFirm, SealedFirm, table
from tests.ledger import bank_books


def files_of(bundle: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


async def test_all_that_counts_in_the_period_is_in_the_bundle(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        await firm.close()
        bundle = await firm.bundle(await firm.seal())
        ids = firm.ids
    assert [(row["id"], row["status"]) for row in table(bundle, "period.csv")] == [(ids["per"], "closed")]
    assert [row["id"] for row in table(bundle, "businesses.csv")] == [ids["biz"]]
    assert [(row["id"], row["grossTotal"]) for row in table(bundle, "invoices.csv")] == [(ids["inv"], "300.00")]
    assert [row["description"] for row in table(bundle, "invoice_lines.csv")] == ['A "table"\nof oak']
    assert [(row["date"], row["amount"]) for row in table(bundle, "payments.csv")] == [("2025-08-01", "150.00")]
    assert [row["id"] for row in table(bundle, "bank_transactions.csv")] == [ids["paid"], ids["timber"], ids["left"]]
    assert [(row["category"], row["amount"]) for row in table(bundle, "allocations.csv")] == [
        ("not_pnl", "150.00"),
        ("costOfGoods", "100.00"),
        ("adminCosts", "20.00"),
    ]
    kinds = {row["kind"] for row in table(bundle, "obligations.csv")}
    assert {"itsa_final_declaration", "itsa_quarterly_update"} & kinds


async def test_a_line_outside_of_the_period_is_in_the_bundle_once(open_firm: OpenFirm) -> None:
    """Paid in the next year: two bills of this year, and one that is not; and what another account paid."""
    async with open_firm() as firm:
        late = await firm.line("2026-04-10", -60_00, description="Three bills")
        part = {"businessId": firm.ids["biz"], "category": "costOfGoods", "amount": "20.00"}
        await firm.spend(late, *({**part, "documentDate": day} for day in ("2026-03-01", "2026-04-08", "2026-03-02")))
        store = firm.api.store
        other = await store.write(lambda tx: bank_books.insert_account(tx, None), "org_a")
        lent = await store.write(lambda tx: bank_books.insert_line(tx, other, -5_00, date="2025-12-24"), "org_a")
        await firm.spend(lent, {**part, "amount": "2.00"}, {**part, "amount": "3.00"})
        await firm.close()
        rows = await firm.table(await firm.seal(), "bank_transactions.csv")
        within = [firm.ids[name] for name in ("paid", "timber", "left")]
        assert [row["id"] for row in rows] == [*within, lent, late]
        assert rows[-1]["amount"] == "-60.00"


async def test_terms_and_shares_of_the_period_are_in_the_bundle_where_others_have_followed(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        await firm.close()
        before = await firm.seal()
        assert await firm.table(before, "former_vat_terms.csv") == []
        assert await firm.table(before, "former_owner_shares.csv") == []
        flat = {"status": "registered", "effectiveDate": "2026-06-01", "scheme": "flat_rate", "flatRatePercent": "9"}
        await firm.call("legalEntity.updateLegalEntity", id=firm.ids["ent"], vatNumber="100000187", vat=flat)
        await firm.call("businesses.update", id=firm.ids["biz"], ownerSharePercent="62.5")
        after = await firm.seal()
        (terms,) = await firm.table(after, "former_vat_terms.csv")
        assert (terms["lastDay"], terms["scheme"], terms["registeredFrom"]) == ("2026-04-05", "", "")
        (share,) = await firm.table(after, "former_owner_shares.csv")
        assert {name: share[name] for name in ("businessId", "propertyId", "lastDay", "percent")} == {
            "businessId": firm.ids["biz"],
            "propertyId": "",
            "lastDay": "2026-04-05",
            "percent": "100",
        }
        figures = [await firm.table(seal, "profit_and_loss.csv") for seal in (before, after)]
        assert figures[0] == figures[1]


async def test_figures_of_profit_and_loss_add_up_from_the_rows_behind_them(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        await firm.close()
        bundle = await firm.bundle(await firm.seal())
        pnl = await firm.call("businesses.businessPnl", id=firm.ids["biz"], taxYear="2025-26")
    lines = {row["category"]: row["amount"] for row in table(bundle, "profit_and_loss.csv")}
    assert (lines["turnover"], lines["income"], lines["expenses"]) == ("150.00", "150.00", "120.00")
    assert lines["net_profit"] == pnl["totals"]["netProfit"] == "30.00"
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for row in table(bundle, "profit_and_loss_rows.csv"):
        sums[row["category"]] += Decimal(row["amount"])
    assert {name: str(amount) for name, amount in sums.items()} == {
        "costOfGoods": "100.00",
        "adminCosts": "20.00",
        "turnover": "150.00",
    }


async def test_the_signature_is_checked_by_any_program_that_knows_jose(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        await firm.close()
        seal = await firm.seal()
        files = files_of(await firm.bundle(seal))
    key = PyJWK.from_json(files["key.json"].decode())
    head, _, signature = files["manifest.jws"].decode().split(".")
    payload = base64.urlsafe_b64encode(files["manifest.json"]).rstrip(b"=").decode()
    assert PyJWS().decode(f"{head}.{payload}.{signature}", key, algorithms=["ES256"]) == files["manifest.json"]
    assert seal["keyFingerprint"] == thumbprint(msgspec.json.decode(files["key.json"]))
    manifest = msgspec.json.decode(files["manifest.json"], type=Manifest)
    listed = {file.path: file.sha256 for file in manifest.files}
    sealing = {"manifest.json", "manifest.jws", "key.json"}
    assert listed == {name: hashlib.sha256(text).hexdigest() for name, text in files.items() if name not in sealing}
    sums = "".join(f"{digest}  {path}\n" for path, digest in sorted(listed.items()))  # as sha256sum writes them
    assert hashlib.sha256(sums.encode()).hexdigest() == manifest.contents_sha256 == seal["contentsSha256"]


def thumbprint(key: dict[str, str]) -> str:
    """RFC 7638 §3, by hand."""
    members = {name: key[name] for name in ("crv", "kty", "x", "y")}
    assert "d" not in key
    return base64.urlsafe_b64encode(hashlib.sha256(msgspec.json.encode(members)).digest()).rstrip(b"=").decode()


async def test_the_same_books_are_the_same_contents(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        await firm.close()
        first = await firm.seal()
        firm.api.clock.advance(60_000_000)
        assert await firm.seal() == first  # nothing differs from the last
        detail = await firm.call("periods.get", id=firm.ids["per"])
        assert detail["seals"] == [first]


async def test_two_writings_differ_in_the_time_and_the_signature_alone(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        await firm.close()
        first = files_of(await firm.bundle(await firm.seal()))
        (firm.folder / "blobs").rename(firm.folder / "gone")  # its file is lost: it is written again
        (firm.folder / "blobs" / "drafts").mkdir(parents=True)
        firm.api.clock.advance(60_000_000)
        second = files_of(await firm.bundle(await firm.seal()))
    assert list(first) == list(second)
    assert {name for name in first if first[name] != second[name]} == {"manifest.json", "manifest.jws"}


async def test_what_reopening_changed_is_told_row_by_row(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        await firm.close()
        first = await firm.seal()
        none = await firm.call("periods.sealDifference", id=first["id"])
        assert (none["comparedWith"], none["against"], none["files"], none["data"]) == ("books", None, [], [])
        await firm.reopen()
        await firm.spend(firm.ids["left"], {"businessId": firm.ids["biz"], "category": "adminCosts"})
        await firm.close()
        second = await firm.seal()
        assert (second["number"], second["contentsSha256"] != first["contentsSha256"]) == (2, True)
        found = await firm.call("periods.sealDifference", id=second["id"])
        counted = {one["path"]: (one["added"], one["removed"], one["changed"]) for one in found["files"]}
        back = await firm.call("periods.sealDifference", id=first["id"], against=second["id"])
        page = await firm.call("periods.sealDifference", id=second["id"], limit=1)
        rest = await firm.call("periods.sealDifference", id=second["id"], limit=100, cursor=page["nextCursor"])
    assert counted["allocations.csv"] == (1, 0, 0)
    assert counted["profit_and_loss_rows.csv"] == (1, 0, 0)
    assert counted["period.csv"] == (0, 0, 1)
    line = next(one for one in found["data"] if one["id"].endswith("/adminCosts") and one["change"] == "changed")
    assert (line["path"], line["fields"]) == ("profit_and_loss.csv", ["amount"])
    assert (line["before"]["amount"], line["after"]["amount"]) == ("20.00", "29.99")
    assert {one["path"]: one["removed"] for one in back["files"]}["allocations.csv"] == 1
    assert [*page["data"], *rest["data"]] == found["data"]


async def test_one_seal_is_compared_with_the_books_of_now(open_firm: OpenFirm) -> None:
    """Sealed once, opened again, and 9.99 more allocated: before is the seal, after what stands now."""
    async with open_firm() as firm:
        await firm.close()
        seal = await firm.seal()
        await firm.reopen()
        await firm.spend(firm.ids["left"], {"businessId": firm.ids["biz"], "category": "adminCosts"})
        found = await firm.call("periods.sealDifference", id=seal["id"], limit=100)
        page = await firm.call("periods.sealDifference", id=seal["id"], limit=1)
        rest = await firm.call("periods.sealDifference", id=seal["id"], limit=100, cursor=page["nextCursor"])
        assert [*page["data"], *rest["data"]] == found["data"]
        both = await firm.ask("periods.sealDifference", id=seal["id"], books="true", against=seal["id"])
        assert (both.status, both.json()["errors"][0]["path"]) == (422, "against")
        await firm.close()
        second = await firm.seal()
        told = await firm.call("periods.sealDifference", id=second["id"])
        nothing = await firm.call("periods.sealDifference", id=second["id"], books="true")
        assert [one.name for one in (firm.folder / "blobs" / "drafts").iterdir()] == []
    assert (found["id"], found["comparedWith"], found["against"]) == (seal["id"], "books", None)
    counted = {one["path"]: (one["added"], one["removed"], one["changed"]) for one in found["files"]}
    assert (counted["allocations.csv"], counted["period.csv"]) == ((1, 0, 0), (0, 0, 1))
    line = next(one for one in found["data"] if one["id"].endswith("/adminCosts") and one["change"] == "changed")
    assert (line["before"]["amount"], line["after"]["amount"]) == ("20.00", "29.99")
    (period,) = (one for one in found["data"] if one["path"] == "period.csv")
    assert (period["before"]["status"], period["after"]["status"]) == ("closed", "open")
    assert (told["comparedWith"], told["against"]) == ("seal", seal["id"])
    assert (nothing["comparedWith"], nothing["files"], nothing["data"]) == ("books", [], [])


async def test_books_that_no_bundle_would_hold_are_not_compared(
    open_firm: OpenFirm, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_firm() as firm:
        await firm.close()
        seal = await firm.seal()
        monkeypatch.setattr(engine, "MAX_BUNDLE_BYTES", 100)
        reply = await firm.ask("periods.sealDifference", id=seal["id"])
        assert (reply.status, reply.code, reply.json()["limit"]) == (409, "limit_reached", 100)
        assert list((firm.folder / "blobs" / "drafts").iterdir()) == []


async def test_a_column_that_another_version_did_not_write_is_no_change(
    open_firm: OpenFirm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sealed without the last column of the bank lines: what differs is told by the columns that both have."""
    sheet = next(one for one in sheets.SHEETS if one.path == sheets.LINES)
    assert sheet.columns[-1] == "importId"
    async with open_firm() as firm:
        await firm.close()
        with monkeypatch.context() as before:
            fewer = sheet._replace(columns=sheet.columns[:-1], sql=sheet.sql.replace(", lines.import_id", ""))
            before.setattr(sheets, "SHEETS", tuple(fewer if one is sheet else one for one in sheets.SHEETS))
            seal = await firm.seal()
        same = await firm.call("periods.sealDifference", id=seal["id"])
        assert sheets.LINES not in {one["path"] for one in same["files"]}
        await firm.reopen()
        await firm.line("2025-12-01", -1_00)
        found = await firm.call("periods.sealDifference", id=seal["id"])
    (added,) = (one for one in found["data"] if one["path"] == sheets.LINES)
    assert (added["change"], "importId" in added["after"]) == ("added", True)


async def test_what_a_spreadsheet_would_run_is_text(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        await firm.close()
        bundle = await firm.bundle(await firm.seal())
    raw = files_of(bundle)["bank_transactions.csv"].decode()
    assert "'=HYPERLINK" in raw
    assert ",=HYPERLINK" not in raw
    assert ',"=HYPERLINK' not in raw
    assert table(bundle, "bank_transactions.csv")[1]["description"] == FORMULA
    assert table(bundle, "bank_transactions.csv")[1]["amount"] == "-120.00"


async def test_the_beancount_text_balances(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        await firm.close()
        text = files_of(await firm.bundle(await firm.seal()))["books.beancount"].decode()
    sums = balances(text)
    assert sums["Assets:Receivables"] == Decimal("150.00")  # invoiced 300.00, paid 150.00
    bank = next(amount for account, amount in sums.items() if account.startswith("Assets:Bank:"))
    assert bank == Decimal("20.01")  # 150.00 - 120.00 - 9.99
    assert sums["Equity:Unallocated"] == Decimal("9.99")


async def test_what_is_carried_on_refunded_and_lost_leaves_nothing_receivable(open_firm: OpenFirm) -> None:
    """150.00 is owed of the table and 200.00 come: 50.00 on account, of which 20.00 go back and 30.00 pay of 100.00.

    Of the 70.00 that are written off 10.00 come after all.
    """
    async with open_firm() as firm:
        ids, whose = firm.ids, {"clientId": firm.ids["cli"], "legalEntityId": firm.ids["ent"]}
        came, went = await firm.line("2025-08-10", 200_00), await firm.line("2025-09-10", -20_00)
        paid = await firm.call("accounting.recordClientPayment", **whose, bankTransactionId=came)
        await firm.call("accounting.refundClient", **whose, bankTransactionId=went)
        line = {"description": "Stool", "unitPrice": "100.00", "vatCode": "outside_scope"}
        sold = {**whose, "businessId": ids["biz"], "issueDate": "2025-10-01", "status": "issued", "lines": [line]}
        stool = (await firm.call("accounting.createInvoice", **sold))["id"]
        await firm.call("accounting.applyCredit", **whose, date="2025-10-02")
        await firm.call("accounting.writeOffInvoice", invoiceId=stool, date="2026-01-05", reason="Insolvent")
        await firm.call("accounting.recordPayment", invoiceId=stool, amount="10.00", date="2026-02-01")
        await firm.close()
        bundle = await firm.bundle(await firm.seal())
    sums = balances(files_of(bundle)["books.beancount"].decode())
    lost = next(amount for account, amount in sums.items() if account.endswith("IrrecoverableDebts"))
    assert (sums["Assets:Receivables"], sums["Equity:CreditOfClients"], lost) == (0, 0, Decimal("60.00"))
    kept = [(row["kind"], row["amount"], row["onAccount"]) for row in table(bundle, "client_payments.csv")]
    assert kept == [("payment", "200.00", "50.00"), ("refund", "20.00", "-20.00"), ("credit", "30.00", "-30.00")]
    (off,) = table(bundle, "write_offs.csv")
    assert (off["invoiceId"], off["amount"], off["vatRelief"]) == (stool, "70.00", "no_vat")
    parts = [row["amount"] for row in table(bundle, "payments.csv") if row["clientPaymentId"] == paid["id"]]
    assert parts == ["150.00"]


def balances(text: str) -> dict[str, Decimal]:
    """What each account comes to. Every transaction has two sides or more, which come to nothing."""
    sums: dict[str, Decimal] = defaultdict(Decimal)
    opened = {line.split()[2] for line in text.splitlines() if " open " in line}
    for block in text.split("\n\n"):
        lines = block.splitlines()
        if not lines or " * " not in lines[0]:
            continue
        postings = [line.split() for line in lines[1:] if line.startswith("  ") and line.strip()[0].isupper()]
        assert len(postings) >= 2, block
        assert sum(Decimal(amount) for _, amount, _ in postings) == 0, block
        for account, amount, _ in postings:
            assert account in opened
            sums[account] += Decimal(amount)
    return sums


async def test_beancount_takes_the_text(open_firm: OpenFirm, tmp_path: Path) -> None:
    """Its own checker, in a process apart."""
    async with open_firm() as firm:
        await firm.close()
        text = files_of(await firm.bundle(await firm.seal()))["books.beancount"]
    book = tmp_path / "books.beancount"
    book.write_bytes(text)
    check = (
        "import sys; from beancount import loader; e = loader.load_file(sys.argv[1])[1]; sys.exit(str(e) if e else 0)"
    )
    done = subprocess.run([sys.executable, "-c", check, str(book)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


async def test_an_open_period_is_not_sealed(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        reply = await firm.ask("periods.seal", id=firm.ids["per"])
        assert (reply.status, reply.code, reply.json()["currentState"]) == (409, "invalid_state", "open")
        await firm.close()
        reply = await firm.ask("periods.seal", id=firm.ids["per"], expectedVersion=1)
        assert (reply.status, reply.code) == (409, "version_conflict")


async def test_a_period_that_is_reopened_while_it_is_read_is_not_sealed(
    open_firm: OpenFirm, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_firm() as firm:
        await firm.close()
        bundles = firm.api.api._performer._deps.bundles
        read = firm.api.store.read_later

        async def read_and_reopen(*arguments: object) -> object:
            found = await read(*arguments)  # type: ignore[arg-type]
            await firm.reopen()
            return found

        monkeypatch.setattr(bundles._store, "read_later", read_and_reopen)
        reply = await firm.ask("periods.seal", id=firm.ids["per"])
        assert (reply.status, reply.code) == (409, "version_conflict")


async def test_a_bundle_too_large_is_refused_and_leaves_nothing(
    open_firm: OpenFirm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "MAX_ROWS", 5)
    async with open_firm() as firm:
        await firm.close()
        reply = await firm.ask("periods.seal", id=firm.ids["per"])
        assert (reply.status, reply.code, reply.json()["limit"]) == (409, "limit_reached", 5)
        assert [path for path in (firm.folder / "blobs").rglob("*") if path.is_file()] == []


async def test_a_disk_without_room_for_the_bundle_is_told(open_firm: OpenFirm, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_firm() as firm:
        await firm.close()
        monkeypatch.setattr("gatewayd.bundles.engine.free_bytes", lambda _: 1000)
        reply = await firm.ask("periods.seal", id=firm.ids["per"])
        assert (reply.status, reply.code) == (503, "unavailable")
        firm.api.errors.claim("store_failed")
        assert [path for path in (firm.folder / "blobs").rglob("*") if path.is_file()] == []


async def test_a_damaged_bundle_is_not_compared(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        await firm.close()
        first = await firm.seal()
        await firm.reopen()
        await firm.close()
        second = await firm.seal()
        (firm.folder / "blobs" / first["sha256"][:2] / first["sha256"]).write_bytes(b"PK")
        reply = await firm.ask("periods.sealDifference", id=second["id"])
        assert (reply.status, reply.code, reply.json()["currentState"]) == (409, "invalid_state", "damaged")


async def test_a_bundle_needs_the_scopes_of_all_that_it_holds(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        await firm.close()
        seal = await firm.seal()
        firm.api.token("org_a", "clerk", {"periods:read", "periods:write", "accounting:read"})
        for operation in ("periods.getBundle", "periods.sealDifference"):
            reply = await firm.ask(operation, token="clerk", id=seal["id"])
            assert (reply.status, reply.code) == (403, "insufficient_scope")


async def test_a_bundle_is_sent_as_a_file(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        await firm.close()
        seal = await firm.seal()
        for accept in (b"application/octet-stream", b"*/*"):
            path = "/periods/getBundle"
            reply = await firm.api("GET", path, query={"id": seal["id"]}, headers=[(b"accept", accept)])
            assert (reply["content-type"], int(reply["content-length"])) == (
                "application/octet-stream",
                seal["sizeBytes"],
            )
            assert hashlib.sha256(reply.body).hexdigest() == seal["sha256"]
            assert reply["content-disposition"].startswith('attachment; filename="2025-04-06-2026-04-05-seal_')
            assert reply["cache-control"] == "no-store"
        head = await firm.api("HEAD", "/periods/getBundle", query={"id": seal["id"]})
        assert (head.status, head.body, int(head["content-length"])) == (200, b"", seal["sizeBytes"])
        (firm.folder / "blobs" / seal["sha256"][:2] / seal["sha256"]).unlink()
        assert (await firm.ask("periods.getBundle", id=seal["id"])).code == "not_found"


# -- files that nothing names


def bundles_in(folder: Path) -> set[str]:
    return {path.name for path in (folder / "blobs").glob("*/*")}


async def test_a_file_whose_row_never_came_is_swept(open_firm: OpenFirm, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a kill leaves it between file and row; the bundle of a seal stays, and so does what was just written."""

    def killed(*_: object) -> None:
        raise Problem("version_conflict", "It changed meanwhile.")

    async with open_firm() as firm:
        await firm.close()
        with monkeypatch.context() as patched:
            patched.setattr(engine, "_add", killed)
            assert (await firm.ask("periods.seal", id=firm.ids["per"])).status == 409
        (left,) = bundles_in(firm.folder)
        firm.api.clock.advance(60_000_000)
        seal = await firm.seal()
        assert bundles_in(firm.folder) == {left, seal["sha256"]}
        now = firm.api.clock.now()
        for path in (firm.folder / "blobs").glob("*/*"):
            os.utime(path, (now / SECOND, now / SECOND))
        bundles = Bundles(firm.api.store)
        await bundles.keep_house()
        assert bundles_in(firm.folder) == {left, seal["sha256"]}
        firm.api.clock.advance(SWEEP_EVERY - 1)
        await bundles.keep_house()  # not again on the same day
        assert bundles_in(firm.folder) == {left, seal["sha256"]}
        firm.api.clock.advance(1)
        await bundles.keep_house()
        assert bundles_in(firm.folder) == {seal["sha256"]}
        assert await firm.bundle(seal)


async def upload(firm: SealedFirm, name: str, content: bytes, **fields: object) -> str:
    """A document whose bytes are there."""
    made = await firm.call("vault.createDocumentRecord", name=name, **fields)
    with Blobs(firm.folder).draft(1 << 20) as draft:
        draft.write(content)
        kept = draft.save()
    token = made["upload"]["url"].rpartition("/")[2]
    landed = partial(uploads.receive, token=token, size=kept.size_bytes, sha256=kept.sha256)
    assert await firm.api.store.write(landed) is not None
    await firm.call("vault.confirmUpload", documentId=made["document"]["id"])
    return str(made["document"]["id"])


async def test_documents_of_the_entries_are_sealed_where_that_is_asked_for(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        ids, of_line, of_invoice = firm.ids, {"type": "bank_transaction"}, {"type": "invoice"}
        bill = await upload(firm, "Bill.PDF", b"timber", links=[of_line | {"id": ids["timber"]}])
        copy = await upload(firm, "copy.txt", b"timber", links=[of_line | {"id": ids["left"]}])
        sold = await upload(firm, "sold", b"table", links=[of_invoice | {"id": ids["inv"]}])
        await upload(firm, "other.pdf", b"of nothing")
        later = await firm.line("2026-04-07", -5_00)
        await upload(firm, "later.pdf", b"later", links=[of_line | {"id": later}])
        trashed = await upload(firm, "trashed.pdf", b"trashed", links=[of_line | {"id": ids["paid"]}])
        await firm.call("vault.deleteDocument", documentId=trashed)
        await firm.close()
        plain = await firm.seal()
        seal = await firm.call("periods.seal", id=ids["per"], documents=True)
        again = await firm.call("periods.seal", id=ids["per"], documents=True)
        bundle = await firm.bundle(seal)
        path = firm.folder / "sealed.zip"
        path.write_bytes(bundle)
        manifest, _ = verify(path, seal["keyFingerprint"])
        differing = await firm.call("periods.sealDifference", id=seal["id"])
        assert "documents.csv" not in files_of(await firm.bundle(plain))
    assert again == seal
    files = files_of(bundle)
    timber, table_of = (hashlib.sha256(content).hexdigest() for content in (b"timber", b"table"))
    held = {name: content for name, content in files.items() if name.startswith("documents/")}
    assert held == {f"documents/{timber}.pdf": b"timber", f"documents/{table_of}": b"table"}
    rows = {row["id"]: (row["name"], row["path"]) for row in table(bundle, "documents.csv")}
    assert rows == {
        bill: ("Bill.PDF", f"documents/{timber}.pdf"),
        copy: ("copy.txt", f"documents/{timber}.pdf"),
        sold: ("sold", f"documents/{table_of}"),
    }
    assert {file.path: file.sha256 for file in manifest.files}[f"documents/{timber}.pdf"] == timber
    listed = {file["path"]: file["rows"] for file in seal["files"]}
    assert listed["documents.csv"] == 3
    assert not any(name.startswith("documents/") for name in listed)
    assert {file["path"] for file in differing["files"]} == {"documents.csv"}
    text = files["documents/" + table_of]
    path.write_bytes(bundle.replace(text, b"TABLE"))
    with pytest.raises(BundleFault, match=table_of):
        verify(path, None)


async def test_a_document_whose_bytes_are_lost_or_damaged_ends_the_sealing(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        document_id = await upload(
            firm, "bill.pdf", b"timber", links=[{"type": "bank_transaction", "id": firm.ids["timber"]}]
        )
        await firm.close()
        path = Blobs(firm.folder).path(hashlib.sha256(b"timber").hexdigest())
        before = bundles_in(firm.folder)
        for spoil in (lambda: path.write_bytes(b"Timber"), path.unlink):
            spoil()
            refused = await firm.ask("periods.seal", id=firm.ids["per"], documents=True)
            assert (refused.status, refused.code) == (410, "gone")
            assert refused.json()["documentId"] == document_id
            assert bundles_in(firm.folder) <= before
        assert (await firm.seal())["number"] == 1, "without documents it can be sealed all the same"


async def test_a_bundle_with_documents_is_read_by_who_may_see_documents(open_firm: OpenFirm) -> None:
    async with open_firm() as firm:
        await firm.close()
        reading = frozenset({"periods:read", "accounting:read", "banking:read"})
        firm.api.token("org_a", "books", reading)
        plain = await firm.seal()
        seal = await firm.call("periods.seal", id=firm.ids["per"], documents=True)
        for operation in ("periods.getBundle", "periods.sealDifference"):
            refused = await firm.ask(operation, token="books", id=seal["id"])
            assert (refused.status, refused.code) == (403, "insufficient_scope")
            assert (await firm.ask(operation, token="books", id=plain["id"])).status == 200
