"""CAMT.053, .052 and .054 of ISO 20022, versions .02 to .08: statements, reports and notifications (Domain E).

Elements are dropped as soon as they have been read, so that memory does not grow with the file.
"""

from collections.abc import Iterator
from typing import BinaryIO
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from gatewayd.statements.camt_entries import Entry, TransactionDetails, without_namespace
from gatewayd.statements.camt_statement import StatementHeader
from gatewayd.statements.running import Tally
from gatewayd.statements.shapes import Format, Hints, Part, Refused, Unreadable

_STATEMENTS: dict[str, Format] = {"Stmt": "camt053", "Rpt": "camt052", "Ntfctn": "camt054"}
_DETAILS_OF_ONE_ENTRY = 100_000


def read_camt053(stream: BinaryIO, hints: Hints) -> Iterator[Part]:
    """The parts of a CAMT file. Raises `Unreadable` for what is no well-formed XML, or another message."""
    reader = _Reader(hints)
    for event, element in _events(stream):
        if event == "start":
            reader.begin(element)
        else:
            yield from reader.end(element)
    if reader.statements == 0:
        kinds = "statement (BkToCstmrStmt), account report (BkToCstmrAcctRpt) or notification (BkToCstmrDbtCdtNtfctn)"
        raise Unreadable(None, f"the file holds no {kinds}")


def _events(stream: BinaryIO) -> Iterator[tuple[str, Element]]:
    """The elements as they begin and end."""
    stream.seek(0)
    try:
        yield from iterparse(stream, events=("start", "end"), forbid_dtd=True)
    except ParseError as error:
        raise Unreadable(error.position[0], f"the file is no well-formed XML, or is cut off ({error.msg})") from error
    except DefusedXmlException as error:
        reason = "the file declares a document type or entities, which no bank's statement has"
        raise Unreadable(None, reason) from error
    except (LookupError, ValueError) as error:  # of several bytes a character, or of no codec that there is
        raise Unreadable(1, f"the file declares an encoding that cannot be read ({error})") from error


class _Reader:
    """Follows the elements of the file; `_path` are those that are open, the innermost last."""

    def __init__(self, hints: Hints) -> None:
        self.statements = 0
        self._hints = hints
        self._path: list[Element] = []
        self._header: StatementHeader | None = None
        self._tally: Tally | None = None
        self._details: list[TransactionDetails] = []
        self._entries = 0

    def begin(self, element: Element) -> None:
        name = without_namespace(element)
        self._path.append(element)
        if len(self._path) > 64:
            raise Unreadable(None, "elements stand deeper within each other than any statement has them")
        if name in _STATEMENTS and len(self._path) == 3:
            self._header, self._tally = StatementHeader(_STATEMENTS[name], self._hints.currency), None
        elif name == "Ntry":
            self._details = []

    def end(self, element: Element) -> Iterator[Part]:
        self._path.pop()
        name, depth = element.tag, len(self._path)
        header = self._header
        if header is None:
            return
        if name == "TxDtls":
            self._keep_details(element)
        elif name in _STATEMENTS and depth == 2:
            yield from self._closed(header)
        elif depth == 3 and name == "Ntry":
            yield from self._opened(header)
            yield from self._lines(element)
        elif depth == 3:
            header.take(element)
        else:
            return
        if self._path:
            self._path[-1].remove(element)

    def _keep_details(self, element: Element) -> None:
        if len(self._details) >= _DETAILS_OF_ONE_ENTRY:
            raise Unreadable(None, f"entry {self._entries + 1} has more than {_DETAILS_OF_ONE_ENTRY} transactions")
        self._details.append(TransactionDetails.of(element))

    def _opened(self, header: StatementHeader) -> Iterator[Part]:
        if self._tally is None:
            opened = header.opened(self.statements)
            self._tally = Tally(self.statements, opened.currency or "")
            self.statements += 1
            yield opened

    def _lines(self, element: Element) -> Iterator[Part]:
        """One line for each transaction of the entry where their amounts add up to its own, else one."""
        self._entries += 1
        tally = self._tally
        assert tally is not None  # the statement was opened before its first entry
        try:
            entry = Entry.of(element, self._details)
            for line in entry.lines(tally.statement, self._entries):
                yield tally.add(line)
        except ValueError as error:
            yield Refused(line=self._entries, reason=str(error), statement=tally.statement)

    def _closed(self, header: StatementHeader) -> Iterator[Part]:
        yield from self._opened(header)
        assert self._tally is not None
        yield header.closed(self._tally)
        self._header = self._tally = None
