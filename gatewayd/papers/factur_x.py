"""The metadata by which a PDF says that it carries a Factur-X invoice, added to one that was set here. Pure.

typst writes PDF/A-3 and attaches the XML, but has no place for the four properties of Factur-X in XMP, nor for the
schema by which PDF/A (ISO 19005-3) allows them. They are added by an incremental update, as ISO 32000-1 has it: a new
version of the one object that holds the metadata, in the table and trailer of the form that the compiler writes. Files
of others never come here.
"""

import re
from typing import Final

_METADATA: Final = re.compile(rb"/Metadata (\d+) 0 R")
_ROOT: Final = re.compile(rb"/Root (\d+) 0 R")
_TRAILER: Final = re.compile(rb"trailer\s*(<<.*?>>)\s*startxref\s+(\d+)\s+%%EOF\s*$", re.DOTALL)
_BAG: Final = b"</rdf:Bag></pdfaExtension:schemas>"
_END: Final = b"</rdf:RDF>"
_PROPERTIES: Final = (
    ("DocumentFileName", "The name of the embedded XML document"),
    ("DocumentType", "The type of the hybrid document in capital letters"),
    ("Version", "The version of the standard applying to the embedded XML document"),
    ("ConformanceLevel", "The conformance level of the embedded XML document"),
)
_PROPERTY: Final = """<rdf:li rdf:parseType="Resource"><pdfaProperty:name>{name}</pdfaProperty:name>\
<pdfaProperty:valueType>Text</pdfaProperty:valueType><pdfaProperty:category>external</pdfaProperty:category>\
<pdfaProperty:description>{description}</pdfaProperty:description></rdf:li>"""
_NAMESPACE: Final = "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#"
_SCHEMA: Final = f"""<rdf:li rdf:parseType="Resource"><pdfaSchema:schema>Factur-X PDFA Extension Schema\
</pdfaSchema:schema><pdfaSchema:namespaceURI>{_NAMESPACE}</pdfaSchema:namespaceURI>\
<pdfaSchema:prefix>fx</pdfaSchema:prefix><pdfaSchema:property><rdf:Seq>\
{"".join(_PROPERTY.format(name=name, description=description) for name, description in _PROPERTIES)}\
</rdf:Seq></pdfaSchema:property></rdf:li>""".encode()
_SAID: Final = f"""<rdf:Description rdf:about="" xmlns:fx="{_NAMESPACE}">\
<fx:DocumentType>INVOICE</fx:DocumentType><fx:DocumentFileName>factur-x.xml</fx:DocumentFileName>\
<fx:Version>1.0</fx:Version><fx:ConformanceLevel>EN 16931</fx:ConformanceLevel></rdf:Description>""".encode()


class UnknownForm(Exception):
    """The PDF is not of the form that the compiler writes."""


def declared(pdf: bytes) -> bytes:
    """The PDF, which says of itself that it is Factur-X. Raises `UnknownForm`."""
    ending = _TRAILER.search(pdf)
    if ending is None:
        raise UnknownForm("no trailer")
    trailer, table_at = ending[1], int(ending[2])
    number = _number_of_metadata(pdf, trailer)
    metadata = _metadata(pdf, number)
    if _BAG not in metadata or _END not in metadata:
        raise UnknownForm("no schemas in its metadata")
    metadata = metadata.replace(_BAG, _SCHEMA + _BAG).replace(_END, _SAID + _END)
    at = len(pdf)
    update = b"%d 0 obj\n<</Type/Metadata/Subtype/XML/Length %d>>\nstream\n%b\nendstream\nendobj\n" % (
        number,
        len(metadata),
        metadata,
    )
    table = b"xref\n%d 1\n%010d 00000 n\r\ntrailer\n%b\n" % (number, at, trailer[:-2] + b"/Prev %d>>" % table_at)
    return pdf + update + table + b"startxref\n%d\n%%%%EOF\n" % (at + len(update))


def _number_of_metadata(pdf: bytes, trailer: bytes) -> int:
    root = _ROOT.search(trailer)
    if root is None:
        raise UnknownForm("no root")
    begins = pdf.rfind(b"\n%b 0 obj" % root[1])
    found = _METADATA.search(pdf, begins, pdf.find(b"endobj", begins))
    if begins < 0 or found is None:
        raise UnknownForm("no metadata")
    return int(found[1])


def _metadata(pdf: bytes, number: int) -> bytes:
    begins = pdf.rfind(b"\n%d 0 obj" % number)
    ends = pdf.find(b"endstream", begins)
    begins = pdf.find(b"<?xpacket", begins, ends)
    if begins < 0 or ends < 0:
        raise UnknownForm("its metadata is no packet")
    return pdf[begins:ends].rstrip(b"\r\n")
