"""Papers set by typst, in the child: templates of ours, the fonts of the compiler, no file and no address.

The same paper gives the same bytes: the date in them is that of issue, and identifiers follow from the content.
"""

from importlib import resources
from typing import Final

import msgspec
import typst

from gatewayd.papers import factur_x, layout, statement_layout
from gatewayd.papers.country_names import country_names
from gatewayd.papers.orders import Answer, Order, Set, Unset
from gatewayd.papers.paper import Paper
from gatewayd.papers.statement_paper import StatementPaper

_STANDARD: Final = "a-3b"  # ISO 19005-3, level B
_HEAD, _FOOT = "head.typ", "foot.typ"
_BODIES: Final[dict[type, str]] = {Paper: "paper.typ", StatementPaper: "statement.typ"}


class Typesetter:
    """What is loaded once: compiler with its fonts, templates, and the names of countries."""

    def __init__(self) -> None:
        folder = resources.files("gatewayd.papers")
        head, foot = (folder.joinpath(name).read_bytes() for name in (_HEAD, _FOOT))
        self._templates = {kind: head + folder.joinpath(body).read_bytes() + foot for kind, body in _BODIES.items()}
        self._compiler = typst.Compiler(self._templates[Paper], root="/", ignore_system_fonts=True)
        self._countries = country_names()

    def answer(self, order: Order) -> Answer:
        """The paper that is ordered. One with characters that no font has is no PDF/A, which asks for each of them."""
        try:
            return Set(pdf=self._set(order, is_archival=True), is_archival=True)
        except typst.TypstError as error:
            if "font" not in str(error) and "glyph" not in str(error):
                return _unset(error, order)
        try:
            return Set(pdf=self._set(order, is_archival=False), is_archival=False)
        except typst.TypstError as error:
            return _unset(error, order)

    def _set(self, order: Order, *, is_archival: bool) -> bytes:
        told = order.paper
        if isinstance(told, Paper):
            paper = layout.of_paper(told, self._countries)
        else:
            paper = statement_layout.of_statement(told, self._countries)
        look = told.look
        if look.logo:
            paper["logo"] = list(look.logo)
        inputs = {
            "paper": msgspec.json.encode(paper).decode(),
            "xml": order.xml.decode() if is_archival else "",
            "logo": look.logo_kind or "" if look.logo else "",
        }
        pdf = self._compiler.compile(
            self._templates[type(told)], format="pdf", sys_inputs=inputs, pdf_standards=_STANDARD if is_archival else []
        )
        assert isinstance(pdf, bytes), "one document"
        return factur_x.declared(pdf) if order.xml and is_archival else pdf


def _unset(error: typst.TypstError, order: Order) -> Unset:
    """By the compiler's own word, which quotes the template and nothing of the paper."""
    reason = "logo" if order.paper.look.logo and "image" in str(error) else "other"
    return Unset(reason="logo" if reason == "logo" else "other", message=str(error)[:200])
