"""The catalogue against the tables of what is promised and the description that is checked in."""

import functools
import typing
from dataclasses import replace
from pathlib import Path

import pytest

from gatewayd.areas import legal_entities
from gatewayd.catalogue import CatalogueError, checked, joined
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import AT_CATALOGUE, Area, Handlers, Operation
from gatewayd.contract.pages import Listing, Page, PageRequest, SyncPage
from gatewayd.contract.scopes import meaning
from gatewayd.contract.wire import Rendered
from gatewayd.http.openapi import explanation
from gatewayd.store import ReadTx
from tests.contract.description import DESCRIPTION
from tests.contract.generate import FILE, written
from tests.contract.promises import extensions, line_of, promised, read
from tests.contract.rows import BY_ID, OPERATIONS
from tests.http import probes
from tests.http.probes import row

PROMISES, EXTENSIONS = read(), extensions()


def test_the_table_has_103_operations() -> None:
    assert len(PROMISES) == 103


def test_all_that_is_promised_is_built() -> None:
    assert sorted(PROMISES.keys() - BY_ID.keys()) == []


def test_an_extension_is_no_promised_operation_under_another_flag() -> None:
    extending = {operation.id: operation for operation in OPERATIONS if operation.extension}
    missing = [line_of(extending[id_]) for id_ in extending.keys() - EXTENSIONS.keys()]
    assert missing == [], "each is a line of tests/contract/extensions.tsv"
    assert EXTENSIONS.keys() - extending.keys() == set(), "lines without a row"
    assert PROMISES.keys() & EXTENSIONS.keys() == set()


WORDS = {
    "legalEntity": ("legal entities",),
    "businesses": ("income sources", "reports"),
    "landlord": ("tenan",),
    "assets": ("portfolios",),
    "banking": ("bank",),
    "vault": ("document",),
    "accounting": ("invoices",),
    "periods": ("period",),
    "obligations": ("obligations",),
    **dict.fromkeys(("vat", "itsaCalculations", "itsaObligations", "itsaStatus", "selfAssessment"), ("tax",)),
    "billing": ("credits",),
    "organizations": ("organization",),
    **dict.fromkeys(("events", "webhooks"), ("webhook",)),
    "tax": ("tax",),
    "crm": ("opportunities",),
    "access": ("open",),
}
"""Of each area, the words by which people know that it is meant; one of several."""


def test_the_meaning_of_a_scope_names_all_that_it_opens() -> None:
    """Whoever allows it reads nothing else."""
    faults = set()
    for operation in OPERATIONS:
        area = operation.id.partition(".")[0]
        for scope in operation.scopes if len(operation.scopes) == 1 else ():
            if not any(word in meaning(scope).lower() for word in WORDS[area]):
                faults.add((scope, area))
    assert faults == set()


def test_no_two_lists_take_requests_of_one_name() -> None:
    """A cursor is bound to it."""
    names = [row.request.__qualname__ for row in OPERATIONS if issubclass(row.request, PageRequest)]
    assert len(names) == len(set(names)) > 5


def test_each_list_that_is_read_comes_in_pages() -> None:
    lists = [row for row in OPERATIONS if row.method == "GET" and typing.get_origin(row.response) in (Page, SyncPage)]
    assert len(lists) > 30
    whole = [row.id for row in lists if not issubclass(row.request, PageRequest)]
    assert whole == ["vault.getRecentDocuments"]  # the latest alone (Domain A7)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_a_row_is_the_one_promised(operation: Operation) -> None:
    promise = promised(operation)
    assert (operation.method, operation.path, operation.scopes) == (promise.method, promise.path, promise.scopes)
    assert operation.kind in ((promise.kind,) if operation.extension else (promise.kind, "call"))


def test_a_row_without_a_line_is_told_where_to_write_which() -> None:
    new = replace(BY_ID["crm.getLead"], id="crm.weighLead", path="/crm/weighLead")
    with pytest.raises(AssertionError) as missing:
        promised(new)
    told = str(missing.value)
    assert told.startswith("crm.weighLead has no line")
    table = Path(__file__).parent / "extensions.tsv"
    assert f"tests/contract/{table.name}" in told
    assert line_of(BY_ID["crm.getLead"]) in table.read_text().splitlines(), "as the others are written"
    assert told.partition("between: ")[2] == f"GET\t/crm/weighLead\tcrm.weighLead\t{' '.join(new.scopes)}\tread"


def test_no_two_schemas_of_the_description_have_one_name() -> None:
    """They would be told apart by their modules, which generators of clients cannot take."""
    schemas = DESCRIPTION["components"]["schemas"]
    assert schemas
    assert [name for name in schemas if name.startswith("gatewayd.")] == []


def test_the_description_that_is_checked_in_is_the_one_served() -> None:
    assert FILE.read_bytes() == written(), "run `make generate`, and read what changes for those who call it"


# -- what `checked` refuses


def refused(*operations: Operation) -> str:
    with pytest.raises(CatalogueError) as caught:
        checked((Area("a", "A", operations),))
    return str(caught.value)


def test_the_probe_rows_and_an_area_alone_are_fine() -> None:
    assert checked((Area("probe", "Probe", probes.OPERATIONS),)).operations == probes.OPERATIONS
    assert checked((legal_entities.AREA,)).areas == (legal_entities.AREA,)


def test_an_id_twice() -> None:
    same = row("a.one", "read", probes.read, "/one")
    assert refused(same, row("a.one", "read", probes.read, "/two")) == "a.one is there twice"


def test_a_path_twice() -> None:
    message = refused(row("a.one", "read", probes.read, "/x"), row("a.two", "read", probes.read, "/x"))
    assert message == "a.two and a.one both claim GET /x"


def test_a_shape_twice() -> None:
    first = row("a.one", "read", probes.get_thing, "/x/:thingId", request=probes.Target)
    second = row("a.two", "read", probes.get_thing, "/x/:word", request=probes.Target)
    assert refused(first, second) == "a.two and a.one both claim GET /x/:"


def test_a_path_that_is_the_alias_of_another() -> None:
    message = refused(row("a.one", "read", probes.read, "/x"), row("b.two", "read", probes.read, "/a/one"))
    assert message == "b.two and a.one both claim GET /a/one"


def test_the_same_path_for_another_method_is_fine() -> None:
    rows = (row("a.one", "read", probes.read, "/x"), row("a.two", "write", probes.write, "/x"))
    assert checked((Area("a", "A", rows),)).operations == rows


def undocumented(tx: object, caller: object, request: object) -> None:  # its missing docstring is the point
    raise NotImplementedError


@pytest.mark.parametrize(
    ("faulty", "message"),
    [
        (row("a.x", "read", probes.read, "/x", scopes=()), "has no scope"),
        (row("a.x", "read", probes.read, "/x", scopes=("no:such",)), "unknown scope no:such"),
        (row("a.x", "write", probes.write, "/x", method="GET"), "a GET that writes"),
        (row("a.x", "read", probes.call, "/x"), "of the other kind"),
        (row("a.x", "call", probes.read, "/x"), "of the other kind"),
        (row("a.x", "call", probes.call, "/x", relays=True), "relays and is no GET of kind call"),
        (row("a.x", "call", probes.call, "/x", relays=True, method="GET"), "relays and takes no incoming request"),
        (row("a.x", "write", probes.write, "/x", takes_incoming=True), "takes the incoming request and is not of kind"),
        (row("a.x", "write", probes.write, "/x", takes_file=True), "takes a file and is no POST of kind call"),
        (row("a.x", "call", probes.take, "/x", takes_file=True, method="PATCH"), "takes a file and is no POST"),
        (row("a.x", "call", probes.take, "/x", takes_file=True, takes_incoming=True), "and the incoming request"),
        (row("a.x", "read", probes.read, "/x", gives_file="text/csv"), "gives a file and is no GET that answers one"),
        (row("a.x", "read", probes.read, "/x/:thingId"), "no field for its path parameter thingId"),
        (row("a.x", "read", probes.read, "/x", errors=("no_such_code",)), "unknown error no_such_code"),
        (row("a.x", "read", undocumented, "/x"), "no description"),
        (row("a.x", "read", functools.partial(undocumented), "/x"), "no description"),
    ],
)
def test_a_row_that_contradicts_itself(faulty: Operation, message: str) -> None:
    assert message in refused(faulty)


def other_request(tx: ReadTx, caller: Caller, request: probes.Target) -> probes.Said:
    """Take another request."""
    raise NotImplementedError


def other_response(tx: ReadTx, caller: Caller, request: probes.Word) -> probes.Word:
    """Return something else."""
    raise NotImplementedError


def other_page(tx: ReadTx, caller: Caller, request: probes.ListWords) -> Listing[probes.Word]:
    """Return a page of something else."""
    raise NotImplementedError


def other_rendered(tx: ReadTx, caller: Caller, request: probes.Word) -> Rendered[probes.Word]:
    """Return the JSON of something else."""
    raise NotImplementedError


def untold(tx: ReadTx, caller: Caller, request):  # type: ignore[no-untyped-def]
    """Say neither what is taken nor what is returned."""
    raise NotImplementedError


def rendered(tx: ReadTx, caller: Caller, request: probes.Word, *, bound: int) -> Rendered[probes.Said]:
    """Return the JSON of the response, with an argument that is bound."""
    raise NotImplementedError


PAGE = {"request": probes.ListWords, "response": Page[probes.Said]}


@pytest.mark.parametrize(
    ("faulty", "message"),
    [
        (row("a.x", "read", other_request, "/x"), "a.x: its handler takes Target, and the row says Word"),
        (row("a.x", "read", other_response, "/x"), "a.x: its handler returns Word, and the row says Said"),
        (row("a.x", "read", other_page, "/x", **PAGE), "its handler returns gatewayd.contract.pages.Listing["),
        (row("a.x", "read", probes.read, "/x", **PAGE), "its handler takes Word, and the row says ListWords"),
        (row("a.x", "read", other_rendered, "/x"), "its handler returns gatewayd.contract.wire.Rendered["),
        (row("a.x", "read", untold, "/x"), "its handler takes None, and the row says Word"),
        (row("a.x", "read", untold, "/x"), "its handler returns None, and the row says Said"),
        (row("a.x", "call", probes.overhear, "/x"), "its handler takes 4 arguments"),
        (row("a.x", "call", probes.call, "/x", takes_incoming=True), "its handler takes 3 arguments"),
        (row("a.x", "call", probes.take, "/x"), "its handler takes 4 arguments"),
        (row("a.x", "call", probes.overhear, "/x", takes_file=True), "takes Request where the file comes"),
        (row("a.x", "call", probes.overhear, "/x", takes_incoming=True, relays=True, method="GET"), "returns Said"),
    ],
)
def test_a_handler_that_is_not_its_rows(faulty: Operation, message: str) -> None:
    assert message in refused(faulty)


def test_a_handler_with_a_bound_argument_may_return_the_json_of_its_response() -> None:
    fine = row("a.x", "read", functools.partial(rendered, bound=1), "/x")
    assert checked((Area("a", "A", (fine,)),)).operations == (fine,)


# -- handlers that are joined


UNSERVED = row("a.x", "read", AT_CATALOGUE, "/x")


def test_a_handler_is_joined_to_the_row_that_stands_without() -> None:
    areas = (Area("a", "A", (UNSERVED, row("a.y", "read", probes.read, "/y"))), Area("b", "B", ()))
    first, second = joined(areas, {}, {"a.x": probes.read})
    assert [operation.handler for operation in first.operations] == [probes.read, probes.read]
    assert (replace(first, operations=()), second) == (Area("a", "A", ()), areas[1])
    assert checked((first, second)).operations == first.operations
    assert areas[0].operations[0].handler is AT_CATALOGUE


def test_a_row_that_is_left_without_a_handler() -> None:
    assert refused(UNSERVED, row("a.y", "read", probes.read, "/y")) == "a.x has no handler"
    with pytest.raises(NotImplementedError):
        UNSERVED.handler(None, None, None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (({"a.z": probes.read},), "a.z has a handler and no row"),
        (({"a.y": probes.read},), "a.y has two handlers"),
        (({"a.x": probes.read}, {"a.x": probes.read}), "a.x has two handlers"),
        (({"a.y": probes.read}, {"b.x": probes.read}), "a.y has two handlers; b.x has a handler and no row"),
    ],
)
def test_a_handler_that_is_no_rows_or_one_too_many(given: tuple[Handlers, ...], message: str) -> None:
    area = Area("a", "A", (UNSERVED, row("a.y", "read", probes.read, "/y")))
    with pytest.raises(CatalogueError) as caught:
        joined((area,), *given)
    assert str(caught.value) == message


def test_a_handler_that_is_joined_is_held_against_its_row() -> None:
    (area,) = joined((Area("a", "A", (UNSERVED,)),), {"a.x": other_request})
    assert refused(*area.operations) == "a.x: its handler takes Target, and the row says Word"


class Words(Page[probes.Said], frozen=True, kw_only=True):
    """A page that has more to say."""

    count: int


def fuller_page(tx: ReadTx, caller: Caller, request: probes.ListWords) -> Listing[probes.Said]:
    """Return a page with a further member."""
    raise NotImplementedError


def test_a_listing_may_be_a_page_with_further_members() -> None:
    fine = row("a.x", "read", fuller_page, "/x", request=probes.ListWords, response=Words)
    assert checked((Area("a", "A", (fine,)),)).operations == (fine,)
    assert "returns gatewayd.contract.pages.Listing[" in refused(
        row("a.x", "read", other_page, "/x", request=probes.ListWords, response=Words)
    )


def test_a_bound_handler_is_explained_by_its_own_words() -> None:
    assert explanation(row("a.x", "read", functools.partial(probes.read), "/x")) == "Read a word."
