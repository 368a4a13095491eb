"""Documents of each kind: their text, pages, facts and pictures; and what cannot be read, with its code."""

import email
import io
import shutil
from email.message import EmailMessage
from email.policy import default
from pathlib import Path

import pypdfium2
import pytest
from PIL import Image, ImageDraw, ImageFont

from gatewayd.clock import SystemClock
from gatewayd.extraction.bounds import Bounds
from gatewayd.extraction.reader import DocumentReader, ReaderSettings, open_reader
from gatewayd.extraction.shapes import ExtractionFailed
from gatewayd.isolation.forking import Forking
from tests.extraction import files
from tests.extraction.conftest import Fail, Read
from tests.extraction.files import LETTER

INVOICE = "Brightwell Plumbing Ltd  Invoice number: BP-20417  Invoice date: 14 October 2026  Total due: 570.00 GBP"


@pytest.mark.parametrize(
    ("name", "content", "engine"),
    [
        ("a.pdf", files.pdf(LETTER), "pdfium"),
        ("a.docx", files.word_document(LETTER), "python-docx"),
        ("a.odt", files.open_document(LETTER), "expat"),
        ("a.xlsx", files.workbook(("Note",), (LETTER,)), "calamine"),
        ("a.html", f"<html><style>p {{}}</style><p>{LETTER}</p><script>x</script></html>".encode(), "lexbor"),
        ("a.eml", files.mail(LETTER), "email"),
        ("a.txt", LETTER.encode(), "text"),
        ("a.csv", f"note\n{LETTER}\n".encode("utf-16"), "text"),
        ("a.png", files.picture(files.drawn(LETTER.replace(", ", ",\n"))), "pillow+tesseract"),
    ],
)
async def test_each_kind_gives_its_text(read: Read, name: str, content: bytes, engine: str) -> None:
    found = await read(content, name)
    assert found.engine == engine
    assert LETTER.split() == [
        word for word in " ".join(page.text for page in found.pages).split() if word in LETTER.split()
    ]
    assert "script" not in found.pages[0].text
    assert [page.number for page in found.pages] == [*range(1, len(found.pages) + 1)]


@pytest.mark.parametrize("called", ["a.docx", "a.png", "a.txt", "a"])
async def test_a_file_is_what_it_holds_and_not_what_it_is_called(read: Read, called: str) -> None:
    assert (await read(files.pdf(LETTER), called, "image/png")).engine == "pdfium"


async def test_pages_are_kept_apart(read: Read) -> None:
    found = await read(files.pdf("One", "", "Three"))
    assert (found.page_count, [page.text for page in found.pages]) == (3, ["One", "", "Three"])


@pytest.mark.parametrize(
    ("written", "number"),
    [("GB 980 7806 84", "GB980780684"), ("DE 136 695 976", "DE136695976"), ("FR 61 954 506 077", "FR61954506077")],
)
async def test_check_digits_of_each_country_are_known_where_no_file_can_be_opened(
    read: Read, written: str, number: str
) -> None:
    found = await read(f"{INVOICE.replace('  ', chr(10))}\nVAT number: {written}\n".encode(), "bill.txt")
    assert found.facts.vat_number == number


async def test_facts_and_language_are_found(read: Read) -> None:
    found = await read(INVOICE.replace("  ", "\n").encode(), "bill.txt")
    assert (found.facts.kind, found.facts.date, found.facts.total) == ("invoice", "2026-10-14", "570.00")
    assert (found.facts.counterparty, found.facts.reference) == ("Brightwell Plumbing Ltd", "BP-20417")
    assert (await read(LETTER.encode())).language == "en"


async def test_a_scan_is_recognised_page_by_page(read: Read) -> None:
    first, second = files.drawn("First page of the scan"), files.drawn("Second page of the scan")
    scan = files.picture(first, "PDF", save_all=True, append_images=[second], resolution=150)
    found = await read(scan, "scan.pdf")
    assert (found.engine, found.page_count) == ("pdfium+tesseract", 2)
    assert ["First page" in found.pages[0].text, "Second page" in found.pages[1].text] == [True, True]


async def test_a_photograph_is_read_as_it_was_held(read: Read, reader: DocumentReader, tmp_path: Path) -> None:
    content = files.photograph("Certificate number GS 778120")
    assert "GS 778120" in (await read(content, "photo.jpg")).pages[0].text
    drawn = await reader.draw(tmp_path / "document", "image/jpeg", 1, 310)
    assert (drawn.width, drawn.height) == (310, 150)
    assert Image.open(io.BytesIO(drawn.body)).format == "WEBP"


async def test_a_mail_brings_what_is_attached(read: Read) -> None:
    found = await read(
        files.mail("See the bill.", **{"bill.pdf": files.pdf(INVOICE), "x.bin": b"\0\1\2" * 40}), "a.eml"
    )
    assert found.pages[0].text.splitlines()[2] == "Subject: Your renewal BI/44719"
    assert "Attachment: bill.pdf" in found.pages[0].text
    assert "BP-20417" in found.pages[1].text


async def test_a_forwarded_mail_has_its_text(read: Read) -> None:
    inner = email.message_from_bytes(
        files.mail("Our boiler fee is 64.25", **{"a.txt": LETTER.encode()}), policy=default
    )
    outer = EmailMessage()
    outer["From"], outer["To"], outer["Subject"] = "ann@harbour.example", "books@harbour.example", "Fwd"
    outer.set_content("Please pay this")
    outer.add_attachment(inner)
    found = await read(outer.as_bytes(), "a.eml")
    text = found.pages[0].text
    assert text.index("Please pay this") < text.index("From: claims@insurer.example") < text.index("Our boiler fee")
    assert text.count("Our boiler fee") == 1
    assert found.pages[1].text.strip() == LETTER


async def test_what_lies_beyond_the_bounds_is_told(tmp_path: Path, forking: Forking) -> None:
    for bounds, is_cut in ((Bounds(pages=2), True), (Bounds(pages=3), False), (Bounds(characters=5), True)):
        reader = DocumentReader(ReaderSettings(bounds=bounds), forking, SystemClock())
        path = tmp_path / "long.pdf"
        path.write_bytes(files.pdf("One", "Two", "Three"))
        found = await reader.read(path, "long.pdf", "")
        assert (found.page_count, found.is_cut) == (3, is_cut)


async def test_words_far_apart_are_found_where_no_page_of_text_is(read: Read) -> None:
    image = Image.new("L", (2480, 3508), 255)
    draw = ImageDraw.Draw(image)
    for place, word in enumerate(("VOLTEDGE", "SUPPLY", "ROOF", "METER")):
        draw.text((300 + 480 * place, 500 + 700 * place), word, fill=0, font=ImageFont.load_default(60))
    text = (await read(files.picture(image), "a.png")).pages[0].text
    assert {"VOLTEDGE", "SUPPLY", "ROOF", "METER"} <= set(text.split())


async def test_a_page_is_drawn(reader: DocumentReader, tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(files.pdf("One", "Two"))
    drawn = await reader.draw(path, "application/pdf", 2, 200)
    assert (drawn.width, drawn.height) == (200, 283)
    shades = Image.open(io.BytesIO(drawn.body)).convert("L").histogram()
    assert sum(shades[:128]) > 0, "there is something on it"
    assert sum(shades[200:]) > sum(shades[:128]), "on white"
    with pytest.raises(ExtractionFailed, match="no page 3"):
        await reader.draw(path, "application/pdf", 3, 200)


async def test_what_has_no_pages_has_no_picture(reader: DocumentReader, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(LETTER)
    with pytest.raises(ExtractionFailed) as caught:
        await reader.draw(path, "text/plain", 1, 200)
    assert caught.value.code == "unsupported"


@pytest.mark.parametrize("degrees", [90, 180])
async def test_a_scan_that_lies_on_its_side_or_upside_down_is_read(read: Read, degrees: int) -> None:
    """As far as tesseract can tell which way up it lies, for which it needs some lines."""
    lines = [f"Line {n} of the record of gas safety for Quay Street" for n in range(1, 13)]
    scan = files.drawn("\n".join(lines), (1240, 900)).rotate(degrees, expand=True, fillcolor="white")
    text = (await read(files.picture(scan), "scan.png")).pages[0].text
    assert text.count("record of gas safety for Quay Street") >= 10


async def test_a_scan_gets_text_behind_it(reader: DocumentReader, tmp_path: Path) -> None:
    scan, target = tmp_path / "scan.pdf", tmp_path / "made.pdf"
    scan.write_bytes(files.picture(files.drawn("Gas safety record\nfor 4 Quay Street"), "PDF", resolution=150))
    await reader.searchable_pdf(scan, "application/pdf", target)
    with pypdfium2.PdfDocument(target) as document:
        text = document[0].get_textpage()
        assert "Quay Street" in text.get_text_range()
        found = text.search("Street").get_next()
        assert found is not None
        left, bottom, right, top = text.get_charbox(found[0])
        text.close()
        across, down = document[0].get_size()
        before = pypdfium2.PdfDocument(scan)
        assert before[0].get_size() == (across, down)
        before.close()
    # The word stands in the second line of text, on the left half of the page.
    assert 0.15 < left / across < 0.3
    assert 0.7 < bottom / down < top / down < 0.9
    assert right > left


async def test_what_has_its_text_gets_none(reader: DocumentReader, tmp_path: Path) -> None:
    path, target = tmp_path / "a.pdf", tmp_path / "made.pdf"
    path.write_bytes(files.pdf(LETTER))
    with pytest.raises(ExtractionFailed) as caught:
        await reader.searchable_pdf(path, "application/pdf", target)
    assert caught.value.code == "unsupported"
    assert not target.exists()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (files.pdf(""), "empty"),
        (files.picture(Image.new("L", (300, 200), "white")), "empty"),
        (files.pdf("Secret", encrypted=True), "encrypted"),
        (files.pdf(LETTER)[:200], "damaged"),
        (files.word_document(LETTER)[:900], "damaged"),
        (files.picture(files.drawn(LETTER))[:400], "damaged"),
        (files.zipped(a_dot_txt="text"), "unsupported"),
        (b"\x7fELF" + b"\0" * 200, "unsupported"),
        (b"{\\rtf1 text}", "unsupported"),
        (b"\0" * 5000, "unsupported"),
    ],
)
async def test_what_cannot_be_read_has_a_code(failure: Fail, content: bytes, code: str) -> None:
    assert await failure(content) == code


async def test_without_recognition_a_scan_is_skipped(tmp_path: Path) -> None:
    scan, photo = tmp_path / "scan.pdf", tmp_path / "photo.png"
    scan.write_bytes(files.picture(files.drawn(LETTER), "PDF"))
    photo.write_bytes(files.picture(files.drawn(LETTER)))
    async with open_reader(ReaderSettings(ocr="off")) as reader:
        for path in (scan, photo):
            with pytest.raises(ExtractionFailed) as caught:
                await reader.read(path, path.name, "")
            assert caught.value.code == "no_ocr"
        layers, program = await reader.layers()
    assert "resource limits" in layers
    assert program == shutil.which("tesseract", path="/usr/local/bin:/usr/bin:/bin")


async def test_text_in_pictures_is_read_in_the_languages_that_are_there(tmp_path: Path) -> None:
    photo = tmp_path / "photo.png"
    photo.write_bytes(files.picture(files.drawn(LETTER)))
    async with open_reader(ReaderSettings(ocr_languages=("eng", "xyz"))) as reader:
        found = await reader.read(photo, photo.name, "")
    assert "the boiler at 4 Quay Street" in found.pages[0].text
    async with open_reader(ReaderSettings(ocr_languages=("xyz",))) as reader:
        with pytest.raises(ExtractionFailed) as caught:
            await reader.read(photo, photo.name, "")
    assert caught.value.code == "empty"


async def test_a_broken_page_hides_no_other_one(read: Read) -> None:
    broken = files.pdf("One", "Two", "Three").replace(b"4 0 R 6 0 R 8 0 R", b"4 0 R 99 0 R 8 0 R")
    found = await read(broken)
    assert [page.text for page in found.pages] == ["One", "", "Three"]


async def test_text_alone_is_not_looked_at_as_a_picture(read: Read) -> None:
    assert (await read(files.pdf("Page 1"))).engine == "pdfium"
