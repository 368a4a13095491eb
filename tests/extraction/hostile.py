"""Documents made to harm whoever reads them."""

import io
import os
import random
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from PIL import Image

from tests.extraction import files
from tests.extraction.files import LETTER

Make = Callable[[], bytes]
DEEP: Final = 100_000 if "GATEWAYD_MUTATIONS" in os.environ else 20_000  # `make soak`: so that it takes too long
_LAUGHS: Final = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
BILLION: Final = f'<!DOCTYPE x [<!ENTITY l0 "ha">{_LAUGHS}]>'
OUTSIDE: Final = '<!DOCTYPE x [<!ENTITY l9 SYSTEM "file:///etc/passwd">]>'


def each_kind() -> dict[str, bytes]:
    """A small document of each kind, as it should be."""
    image = files.drawn(LETTER, (320, 120))
    return {
        "a.pdf": files.pdf(LETTER, "Two"),
        "a.docx": files.word_document(LETTER),
        "a.odt": files.open_document(LETTER),
        "a.xlsx": files.workbook(("Note",), (LETTER,)),
        "a.html": f"<html><table><td>{LETTER}</table><p>{LETTER}</html>".encode(),
        "a.eml": files.mail(LETTER, **{"b.pdf": files.pdf(LETTER)}),
        "a.txt": LETTER.encode(),
        "a.csv": f"note,other\n{LETTER},1\n".encode("utf-16"),
        "a.png": files.picture(image),
        "a.jpg": files.picture(image, "JPEG"),
        "a.gif": files.picture(image.convert("P"), "GIF", save_all=True, append_images=[image.convert("P")] * 3),
        "a.tif": files.picture(image, "TIFF", save_all=True, append_images=[image]),
        "a.webp": files.picture(image, "WEBP"),
        "a.bmp": files.picture(image.resize((80, 30)), "BMP"),
    }


def mutated(content: bytes, chance: random.Random) -> bytes:
    """The content with some bytes set, some stretches doubled, moved or left out, and numbers made extreme."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 12)):
        at, length = chance.randrange(len(changed) or 1), chance.randint(1, 24)
        match chance.randrange(5):
            case 0:
                changed[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                changed[at : at + length] = b""
            case 2:
                changed[at:at] = changed[at : at + length] * chance.randint(1, 20)
            case 3:
                changed[at : at + 4] = chance.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff", b"9999"))
            case _:
                other = chance.randrange(len(changed) or 1)
                changed[at : at + length] = changed[other : other + length]
    return bytes(changed)


def archives() -> Iterator[tuple[str, Make, str]]:
    """ZIP bombs and lies, XML that grows or reaches outside; with the codes that may come of each."""
    yield "docx of zeros", lambda: _in_docx(b"<a>" + bytes(20 << 20)), "too_large"
    yield "odt of zeros", lambda: files.zipped(**_ODT, content_dot_xml=bytes(20 << 20)), "too_large"
    yield "docx of paragraphs", lambda: _in_docx(_BODY % (b"<w:p/>" * 2_500_000)), "read too_large out_of_memory"
    yield (
        "xlsx that tells less than it has",
        lambda: _understated(_in_xlsx(b""), b" ", 900),
        "out_of_memory damaged",
    )
    yield "xlsx of one far cell", _far_cell, "out_of_memory too_large"
    yield "ZIP in ZIP", lambda: _in_docx(files.zipped(a=files.zipped(a=bytes(50 << 20)))), "damaged"
    yield "overlapping parts", _overlapping, "damaged too_large"
    yield "many parts", lambda: _many_parts(10_001), "too_large"
    for kind, make in (("docx", _in_docx), ("odt", lambda xml: files.zipped(**_ODT, content_dot_xml=xml))):
        for name, definition in (("laughs", BILLION), ("outside", OUTSIDE)):
            xml = f'<?xml version="1.0"?>{definition}<x>&l9;</x>'.encode()
            yield f"{name} in {kind}", lambda make=make, xml=xml: make(xml), "damaged"  # type: ignore[misc]
    deep = b"<text:p>" * 200_000
    yield "deep odt", lambda: files.zipped(**_ODT, content_dot_xml=_ODT_ROOT + deep), "damaged"
    yield "deep docx", lambda: _in_docx(_BODY % (b"<w:p>" * 200_000)), "damaged"


_ODT: Final[Mapping[str, str]] = MappingProxyType({"mimetype": "application/vnd.oasis.opendocument.text"})
_ODT_ROOT: Final = b'<text:a xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">'
_WORDS: Final = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_BODY: Final = b'<w:document xmlns:w="' + _WORDS + b'"><w:body>%s</w:body></w:document>'


def _in_docx(document: bytes) -> bytes:
    """A Word document whose text is this."""
    return _replaced(files.word_document(LETTER), "word/document.xml", document)


def _in_xlsx(sheet: bytes) -> bytes:
    return _replaced(files.workbook(("a",)), "xl/worksheets/sheet1.xml", sheet)


def _replaced(content: bytes, name: str, part: bytes) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as after:
        for each in before.namelist():
            after.writestr(each, part if each == name else before.read(each))
    return body.getvalue()


def packed(byte: bytes, mebibytes: int) -> bytes:
    """The zlib stream of so many MiB of one byte: blocks of it are the same, and packed once."""
    return b"\x78\x9c" + _blocks(byte, mebibytes) + struct.pack(">I", _checked(zlib.adler32, byte, mebibytes))


def _blocks(byte: bytes, mebibytes: int) -> bytes:
    """The same without its head and its checksum, as archives have it."""
    one = zlib.compressobj(wbits=-15)
    return (one.compress(byte * (1 << 20)) + one.flush(zlib.Z_FULL_FLUSH)) * mebibytes + b"\x03\0"


def _checked(check: Callable[..., int], byte: bytes, mebibytes: int) -> int:
    value, block = check(b""), byte * (1 << 20)
    for _ in range(mebibytes):
        value = check(block, value)
    return value


def _understated(content: bytes, byte: bytes, mebibytes: int) -> bytes:
    """The workbook with a sheet of so many MiB, of which the directory says that it has 100 bytes."""
    blocks, place = _blocks(byte, mebibytes), "xl/worksheets/sheet1.xml"
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:  # stored as they are, and then said to be packed
        with zipfile.ZipFile(io.BytesIO(content)) as before:
            for each in before.namelist():
                archive.writestr(each, blocks if each == place else before.read(each))
        sheet = archive.getinfo(place)
        sheet.compress_type, sheet.file_size = zipfile.ZIP_DEFLATED, 100
        sheet.CRC = _checked(zlib.crc32, byte, mebibytes)
    changed = bytearray(body.getvalue())
    struct.pack_into("<H", changed, sheet.header_offset + 8, zipfile.ZIP_DEFLATED)
    struct.pack_into("<III", changed, sheet.header_offset + 14, sheet.CRC, len(blocks), mebibytes << 20)
    return bytes(changed)


def _far_cell() -> bytes:
    main = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    cell = b'<row r="%d"><c r="%s" t="inlineStr"><is><t>far</t></is></c></row>'
    cells = cell % (1, b"A1") + cell % (1048576, b"XFD1048576")
    return _in_xlsx(b'<worksheet xmlns="%s"><sheetData>%s</sheetData></worksheet>' % (main, cells))


def _overlapping() -> bytes:
    """One stretch of 20 MB that each of a thousand parts of the directory says is its own."""
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", bytes(20 << 20))
        first = archive.infolist()[0]
        for number in range(1_000):
            more = zipfile.ZipInfo(f"word/{number}.xml")
            more.compress_type, more.CRC, more.header_offset = zipfile.ZIP_DEFLATED, first.CRC, first.header_offset
            more.compress_size, more.file_size = first.compress_size, first.file_size
            archive.filelist.append(more)
    return body.getvalue()


def _many_parts(count: int) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        for number in range(count):
            archive.writestr(f"word/{number}", b"")
    return body.getvalue()


def portable() -> Iterator[tuple[str, Make, str]]:
    """PDF that unpack to much, lead in circles, or have no sensible size."""
    whole = "read empty damaged"
    yield (
        "stream of zeros",
        lambda: _pdf_with_stream(packed(b"\0", 1024), b"/FlateDecode"),
        (f"{whole} out_of_memory too_slow"),
    )
    twice = zlib.compress(packed(b"\0", 1024))
    yield (
        "stream packed twice",
        lambda: _pdf_with_stream(twice, b"[/FlateDecode /FlateDecode]"),
        (f"{whole} out_of_memory too_slow crashed"),
    )
    yield (
        "operators without end",
        lambda: _pdf_with_stream(zlib.compress(b"q 1 0 0 1 0 0 cm " * 3_000_000), b"/FlateDecode"),
        f"{whole} out_of_memory too_slow",
    )
    yield "5,000 pages", lambda: files.pdf(*["Page"] * 5_000), "read"
    catalogue = b"<< /Type /Catalog /Pages 2 0 R >>"
    yield (
        "pages that hold themselves",
        lambda: files.pdf_of(catalogue, b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 9 >>"),
        "damaged empty",
    )
    yield (
        "a form that draws itself",
        lambda: files.pdf_of(
            catalogue,
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R "
            b"/Resources << /XObject << /F 5 0 R >> >> >>",
            b"<< /Length 5 >>\nstream\n/F Do\nendstream",
            b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /F 5 0 R >> >> /Length 11 >>\n"
            b"stream\n/F Do /F Do\nendstream",
        ),
        f"{whole} out_of_memory too_slow",
    )
    yield "arrays in arrays", lambda: files.pdf_of(catalogue, b"[" * 500_000), "damaged"
    yield (
        "a count of billions",
        lambda: files.pdf_of(catalogue, b"<< /Type /Pages /Kids [] /Count 2147483647 >>"),
        f"{whole} too_slow out_of_memory",
    )
    for box in ("0 0 1e9 1e9", "0 0 0 0", "0 0 1e-9 1e9", "-1e38 -1e38 1e38 1e38", "0 0 99999999999999999999 nan"):
        yield (
            f"a page of {box}",
            lambda box=box: files.pdf("", LETTER).replace(  # type: ignore[misc]
                b"[0 0 595 842]", f"[{box}]".encode()
            ),
            whole,
        )


def _pdf_with_stream(packed: bytes, filters: bytes) -> bytes:
    return files.pdf_of(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R >>",
        b"<< /Filter %s /Length %d >>\nstream\n%s\nendstream" % (filters, len(packed), packed),
    )


def images() -> Iterator[tuple[str, Make, str]]:
    """Pictures that say they are larger than they may be, or are, or are cut off."""
    for across, down in ((60_000, 60_000), (2_000_000_000, 2_000_000_000), (0, 5), (1, 2_000_000_000)):
        yield f"PNG of {across} x {down}", lambda size=(across, down): _png(*size), "too_large damaged out_of_memory"  # type: ignore[misc]
    tall = Image.new("1", (9_900, 10_000))
    yield "PNG just within", lambda: files.picture(tall), "empty out_of_memory"
    yield "TIFF of 100,000 x 100,000", lambda: _sized_tiff(100_000), "too_large damaged"
    yield "TIFF whose pages lead in a circle", _circle_of_tiff, "read empty damaged"
    yield (
        "GIF of 65,535 x 65,535",
        lambda: b"GIF89a" + b"\xff" * 4 + b"\0\0\0," + b"\0" * 4 + b"\xff" * 4 + b"\0\x02",
        ("too_large damaged"),
    )
    frames = [Image.new("P", (2, 2), number % 256) for number in range(2_000)]
    yield (
        "GIF of 2,000 pictures",
        lambda: files.picture(frames[0], "GIF", save_all=True, append_images=frames[1:]),
        ("empty read"),
    )
    yield "notes that unpack to 900 MB", lambda: _png(2, 2, packed(b"\0", 900)), "damaged empty"


def _png(across: int, down: int, note: bytes = b"") -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", across, down, 8, 2, 0, 0, 0)
    noted = chunk(b"zTXt", b"n\0\0" + note) if note else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + noted + chunk(b"IDAT", zlib.compress(bytes(14)))


def _sized_tiff(side: int) -> bytes:
    content = bytearray(files.picture(Image.new("L", (7, 7)), "TIFF"))
    for tag in (256, 257):
        at = content.find(struct.pack("<HH", tag, 4))
        at = at if at >= 0 else content.find(struct.pack("<HH", tag, 3))
        struct.pack_into("<HHII", content, at, tag, 4, 1, side)
    return bytes(content)


def _circle_of_tiff() -> bytes:
    content = bytearray(files.picture(Image.new("L", (7, 7), "white"), "TIFF"))
    first = struct.unpack_from("<I", content, 4)[0]
    entries = struct.unpack_from("<H", content, first)[0]
    struct.pack_into("<I", content, first + 2 + 12 * entries, first)
    return bytes(content)


def texts() -> Iterator[tuple[str, Make, str]]:
    """Mail, HTML and text that are deep, long, or of many parts."""
    some = "read empty damaged too_slow out_of_memory"
    for tag in ("div", "b", "table", "svg", "a href=x"):
        yield f"deep {tag}", lambda tag=tag: b"<html>" + f"<{tag}>".encode() * DEEP + b"deep", some  # type: ignore[misc]
    yield "attributes", lambda: b"<html><p " + b"".join(b"a%d " % n for n in range(2 * DEEP)) + b">text", some
    yield "laughs in html", lambda: f"<!DOCTYPE html>{BILLION}<html>&l9;</html>".encode(), "read"
    yield "laughs in xml", lambda: f"<?xml version='1.0'?>{BILLION}<x>&l9;</x>".encode(), "read"
    yield "mail of 10,000 parts", lambda: _mail(b"--b\nContent-Disposition: attachment\n\ntext\n" * 10_000), "read"
    yield "deep mail", _deep_mail, "read damaged"
    yield (
        "mail in mail",
        lambda: _HEAD + b"Content-Type: message/rfc822\n\nSubject: x\n" * 5_000 + b"\ntext",
        ("read damaged"),
    )
    yield "a head of 50 MB", lambda: _HEAD + b"X-A: " + b"a" * (50 << 20) + b"\n\ntext", some
    yield "encodings", lambda: _HEAD + b"Subject: " + b"=?utf-7?q?+2?= =?idna?b?////?=" * 2_000 + b"\n\ntext", some
    yield "a line of 100 MB", lambda: b"word " * (20 << 20), "read"
    yield "form feeds", lambda: b"a\f" * 3_000_000, "read"
    yield (
        "halves of characters",
        lambda: "\ud83d ".encode("utf-16-le", "surrogatepass") * 500 + "text".encode("utf-16-le"),
        ("read unsupported"),
    )


_HEAD: Final = b"From: a@example.org\nTo: b@example.org\nDate: Mon, 02 Nov 2026 09:00:00 +0000\nMIME-Version: 1.0\n"


def _mail(parts: bytes) -> bytes:
    return _HEAD + b"Content-Type: multipart/mixed; boundary=b\n\n" + parts + b"--b--\n"


def _deep_mail() -> bytes:
    levels = (b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(1_000))
    return _HEAD + b"".join(levels) + b"\ntext"


def sparse(place: Path, beginning: bytes) -> Path:
    """A file of 1 GB that takes no room."""
    with place.open("wb") as file:
        file.write(beginning)
        file.truncate(1 << 30)
    return place
