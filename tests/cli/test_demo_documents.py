"""The document of the demo is a real PDF, as somebody else's program reads it."""

import pypdfium2

from gatewayd.cli.demo.documents import pdf_of


def test_the_invoice_is_a_pdf() -> None:
    document = pypdfium2.PdfDocument(pdf_of(("Total (due) \\ 512.40", "Ash boards")))
    page = document[0]
    text = page.get_textpage()
    assert (len(document), text.get_text_range().split("\r\n")) == (1, ["Total (due) \\ 512.40", "Ash boards"])
    text.close()
    page.close()
    document.close()
