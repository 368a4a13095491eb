"""Documents of each kind, made on the spot."""

import io
import zipfile
from email.message import EmailMessage
from typing import Any

import docx
from PIL import Image, ImageDraw, ImageFont

LETTER = "Dear Sir or Madam, the boiler at 4 Quay Street was serviced and it is safe to use."


def pdf(*pages: str, encrypted: bool = False) -> bytes:
    """A PDF with a line of text on each page."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for number, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 50 700 Td ({text}) Tj ET".encode() if text else b""
        page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
        objects.append(f"{page}/Contents {5 + 2 * number} 0 R >>".encode())
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    more = ""
    if encrypted:
        objects.append(b"<< /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >>" % (b"11" * 32, b"22" * 32))
        more = f" /Encrypt {len(objects)} 0 R /ID [<{'33' * 16}> <{'33' * 16}>]"
    return _numbered(objects, more)


def _numbered(objects: list[bytes], more: str = "") -> bytes:
    body = io.BytesIO(b"%PDF-1.4\n")
    body.seek(0, io.SEEK_END)
    places = []
    for number, content in enumerate(objects, 1):
        places.append(body.tell())
        body.write(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    table = body.tell()
    body.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    body.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    body.write(f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R{more} >>\nstartxref\n{table}\n%%EOF".encode())
    return body.getvalue()


def pdf_of(*objects: bytes) -> bytes:
    """A PDF of these objects, of which the first is the catalogue."""
    return _numbered(list(objects))


def drawn(text: str, size: tuple[int, int] = (1240, 600)) -> Image.Image:
    """Text as pixels, as a scanner sees it."""
    image = Image.new("RGB", size, "white")
    ImageDraw.Draw(image).multiline_text((60, 60), text, fill="black", font=ImageFont.load_default(34), spacing=20)
    return image


def picture(image: Image.Image, format_: str = "PNG", **more: Any) -> bytes:
    body = io.BytesIO()
    image.save(body, format_, **more)
    return body.getvalue()


def photograph(text: str) -> bytes:
    """As a phone makes it: lying on its side, with a note of how it was held."""
    exif = Image.Exif()
    exif[0x0112] = 6
    return picture(drawn(text).rotate(90, expand=True), "JPEG", quality=80, exif=exif)


def word_document(*paragraphs: str) -> bytes:
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "Northgate Cleaning Ltd"
    for text in paragraphs:
        document.add_paragraph(text)
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Fee", "240.00 a month"
    body = io.BytesIO()
    document.save(body)
    return body.getvalue()


def zipped(**parts: bytes | str) -> bytes:
    """A ZIP of parts, by names in which `__` stands for a slash and `_dot_` for a dot."""
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return body.getvalue()


def open_document(text: str, before: str = "") -> bytes:
    office = 'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    words = 'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    content = (
        f'<?xml version="1.0"?>{before}<office:document-content {office} {words}>'
        f"<text:p>{text}</text:p></office:document-content>"
    )
    return zipped(mimetype="application/vnd.oasis.opendocument.text", content_dot_xml=content)


def workbook(*rows: tuple[object, ...]) -> bytes:
    """The least that is an xlsx."""
    cells = "".join(
        "<row>" + "".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row) + "</row>" for row in rows
    )
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    links = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    related = "http://schemas.openxmlformats.org/package/2006/relationships"
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    return zipped(
        **{
            "[Content_Types]_dot_xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            f'<Override PartName="/xl/workbook.xml" ContentType="{kinds}.sheet.main+xml"/></Types>',
            "_rels___dot_rels": f'<Relationships xmlns="{related}"><Relationship Id="r1" Type="{links}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
            "xl__workbook_dot_xml": f'<workbook xmlns="{main}" xmlns:r="{links}"><sheets>'
            '<sheet name="Mileage" sheetId="1" r:id="r1"/></sheets></workbook>',
            "xl___rels__workbook_dot_xml_dot_rels": f'<Relationships xmlns="{related}"><Relationship Id="r1" '
            f'Type="{links}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
            "xl__worksheets__sheet1_dot_xml": f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>',
        }
    )


def mail(text: str, **attached: bytes) -> bytes:
    message = EmailMessage()
    message["From"], message["To"] = "claims@insurer.example", "office@harbour.example"
    message["Subject"], message["Date"] = "Your renewal BI/44719", "Mon, 02 Nov 2026 09:00:00 +0000"
    message.set_content(text)
    for name, content in attached.items():
        message.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return message.as_bytes()
