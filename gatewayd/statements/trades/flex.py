"""Flex queries of Interactive Brokers: the XML of its reports, of which trades, cash, splits and transfers are read
(Domain E). What the rows are is in `flex_rows`.
"""

from collections.abc import Iterator
from typing import BinaryIO
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from gatewayd.statements.shapes import Hints, Opened, Part, Unreadable
from gatewayd.statements.trades.flex_rows import READERS, ReportCurrency, base_of, is_one, told

_DEPTH_MAX = 16
_ROW_DEPTH = 5  # a row stands in a section of a statement of the statements of the report
_OF_THE_ACCOUNT = "AccountInformation"


def read_flex(stream: BinaryIO, hints: Hints) -> Iterator[Part]:
    """The parts of a Flex report. Raises `Unreadable` for what is no well-formed XML, or another document."""
    base = _base_in(stream, hints)
    yield Opened(statement=0, format="ibkr_flex", profile="ibkr_flex", bank_name="Interactive Brokers")
    count = 0
    for element, depth in _elements(stream):
        read = READERS.get(element.tag)
        if read is not None or (depth == _ROW_DEPTH and element.tag != _OF_THE_ACCOUNT):
            count += 1
            yield told(read, element, count, base)


def _base_in(stream: BinaryIO, hints: Hints) -> ReportCurrency:
    """The base currency of the account, wherever the report tells it."""
    named, ones = "", set()
    for element, _ in _elements(stream):
        if element.tag == _OF_THE_ACCOUNT:
            named = element.get("currency") or named
        elif element.tag in READERS and is_one(element.get("fxRateToBase", "")):
            ones.add(element.get("currency", ""))
    return base_of(named, ones, hints.currency or "")


def _elements(stream: BinaryIO) -> Iterator[tuple[Element, int]]:
    """The elements as they end, each with how deep it stands. Raises `Unreadable`."""
    path: list[Element] = []
    account = None
    for event, element in _events(stream):
        if event == "start":
            if not path:
                _check_report(element)
            path.append(element)
            if len(path) > _DEPTH_MAX:
                raise Unreadable(None, "elements stand deeper within each other than any report has them")
            if element.tag == "FlexStatement":
                account = _same_account(account, element)
            continue
        yield element, len(path)
        path.pop()
        if path:
            path[-1].remove(element)


def _events(stream: BinaryIO) -> Iterator[tuple[str, Element]]:
    stream.seek(0)
    try:
        yield from iterparse(stream, events=("start", "end"), forbid_dtd=True)
    except ParseError as error:
        raise Unreadable(error.position[0], f"the file is no well-formed XML, or is cut off ({error.msg})") from error
    except DefusedXmlException as error:
        raise Unreadable(None, "the file declares a document type or entities, which no report has") from error
    except (LookupError, ValueError) as error:
        raise Unreadable(1, f"the file declares an encoding that cannot be read ({error})") from error


def _check_report(element: Element) -> None:
    if element.tag != "FlexQueryResponse":
        raise Unreadable(None, "the file is XML, and no Flex query of Interactive Brokers (FlexQueryResponse)")


def _same_account(found: str | None, element: Element) -> str:
    """The account of the statement. Raises `Unreadable` for another than that of one before it."""
    account = element.get("accountId") or ""
    if found is not None and account != found:
        raise Unreadable(None, "the file is of several accounts: make a query for each")
    return account
