"""Pages that follow from operations: a list with its filter, a form, and the question before what cannot be undone.

    list      GET: the rows that a list operation answers, with its filters above and the next page below
    form      GET shows the fields of the request, POST calls the operation with what was entered
    question  GET says what will happen, POST does it

A page names the operation, and says of its fields and columns only what the row does not. A form is sent under a key of
its own: sent twice, it is done once, and a reload shows the same answer again.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple
from uuid import uuid4

from quart import Response, render_template, request
from werkzeug.datastructures import MultiDict

from gatewayd.clock import Clock
from gatewayd.console.browser import ORGANIZATION_FIELD, flash, organization, see
from gatewayd.console.components import words
from gatewayd.console.components.shapes import Action, EmptyState, Field, Option
from gatewayd.console.operations.calls import Operations
from gatewayd.console.operations.lists import JsonObject, Listed, listed
from gatewayd.console.operations.request_fields import RequestFields, Wording, fields_of, texts_of
from gatewayd.console.operations.row_buttons import BUTTON, reshaped
from gatewayd.console.operations.row_names import Texts
from gatewayd.console.operations.sent_files import SentFiles
from gatewayd.console.pages import Question, ask, sentence, with_query
from gatewayd.contract.sentences import Sentences, Sources
from gatewayd.errors import FieldError, Problem, invalid_field

PAGE_ROWS: Final = 50  # Chosen
OPTIONS_MAX: Final = 100
"""Chosen: as many as one page of a list has; what is not among them is found by the search of its own list."""
KEY_FIELD: Final = "key"
VERSION_FIELD: Final = "expectedVersion"
FILE_FIELD: Final = "file"
NAME_OF_FILE: Final = "fileName"
"""A field of requests that nobody enters: the file has its name."""
SENT_BEFORE: Final = (
    "This form was sent before, with other values: what it asked for then is done. Send it again if you want this too."
)
Entities = Mapping[str, tuple[str, str]]
"""Where what a field may be is listed: a list operation, and the member that names a row."""
Options = Mapping[str, Sequence[Option]]
Page = str | Response | tuple[str, int] | tuple[str, int, dict[str, str]]
Then = Callable[[Any], Awaitable[Page]]
Prepare = Callable[[Sequence[JsonObject], Options], Awaitable[Sequence[JsonObject]]]
"""Makes of rows what a list shows, given what there is to pick in its filters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPage:
    """A list. `columns` are names of the response with their headings, empty where the name does.

    `filters` are fields of the request; `entities` lists what one may be, as of a form; `href` leads to one row;
    `primary` is what one mostly comes for.
    """

    operation: str
    title: str
    address: str
    columns: Mapping[str, str]
    text: str = ""
    filters: Sequence[str] = ()
    wording: Mapping[str, Wording] | None = None
    entities: Entities | None = None
    options: Mapping[str, Sequence[Option]] | None = None
    href: Callable[[JsonObject], str] | None = None
    primary: Action | None = None
    empty: EmptyState
    template: str = "list.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormPage:
    """A form. `names` are fields of the request, all where there are none; `entities` lists what a field may be, by
    the id of a list operation and the member that names a row. `proposed` is what an empty form begins with.

    `changes`: it begins with what is there, and what is emptied is taken away.
    """

    operation: str
    title: str
    button: str
    back: str
    text: str = ""
    names: Sequence[str] = ()
    wording: Mapping[str, Wording] | None = None
    entities: Entities | None = None
    options: Mapping[str, Sequence[Option]] | None = None
    proposed: Mapping[str, str] | None = None
    changes: bool = False
    template: str = "form.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPage:
    """What is asked before an operation is called that cannot be undone."""

    operation: str
    button: str
    back: str


class OperationPages:
    """Makes pages of operations. What follows from their rows is found out once, when a page is made."""

    def __init__(self, operations: Operations, clock: Clock, files: SentFiles) -> None:
        self._operations = operations
        self._clock = clock
        self._files = files
        self._sentences = Sentences(Sources(), operations.answers)

    def list_of(self, page: ListPage) -> "ListView":
        row = self._operations.row(page.operation)
        filters = RequestFields(())
        if page.filters:
            filters = fields_of(row.request, page.filters, self._sentences, page.wording, is_filter=True)
        columns = listed(row.response, page.title, page.columns)
        return ListView(page, filters, columns, self._operations, self._clock)

    def form_of(self, page: FormPage) -> "FormView":
        row = self._operations.row(page.operation)
        fields = fields_of(row.request, page.names, self._sentences, page.wording, carries=page.changes)
        fields = replace(fields, proposed=page.proposed)
        return FormView(page, fields, self._operations, self._files if row.takes_file else None)

    def question_of(self, page: QuestionPage) -> "QuestionView":
        return QuestionView(page, self._operations)


@dataclass(frozen=True, slots=True)
class ListView:
    """A list page that can be shown."""

    page: ListPage
    filters: RequestFields
    columns: Listed
    operations: Operations
    clock: Clock

    async def show(
        self, fixed: Mapping[str, str] | None = None, prepare: Prepare | None = None, **context: object
    ) -> str:
        """The rows as the address narrows them. `fixed` are further values of the request.

        Raises `Problem` for an address that nobody made here, and as `Operations.call` does.
        """
        given = request.args
        asked = self.filters.query(given)
        cursor = given.get("cursor", "")
        values: dict[str, object] = {**asked, **(fixed or {}), "limit": str(PAGE_ROWS)}
        answer = await self.operations.call(self.page.operation, {**values, "cursor": cursor} if cursor else values)
        options = {**(self.page.options or {}), **await _options(self.operations, self.page.entities)}
        rows = answer["data"] if prepare is None else await prepare(answer["data"], options)
        address = self.page.address.format_map(fixed or {})
        following = {**asked, "cursor": answer["nextCursor"]}
        return await render_template(
            self.page.template,
            page=self.page,
            address=address,
            filters=self.filters.shown(asked, (), options),
            is_narrowed=bool(asked),
            table=self.columns.table(rows, self.clock.now(), self.page.href),
            first_href=with_query(address, asked) if cursor else "",
            next_href=with_query(address, following) if answer["nextCursor"] else "",
            **context,
        )


@dataclass(frozen=True, slots=True)
class FormView:
    """A form that can be shown, and sent. `files`: where its file is received; None: its operation takes none."""

    page: FormPage
    fields: RequestFields
    operations: Operations
    files: SentFiles | None = None

    async def show(self, resource: JsonObject | None = None, **context: object) -> str:
        """The form, empty or with what `resource` has."""
        given = texts_of(resource, self.fields.leaves) if resource is not None else request.args.to_dict(flat=False)
        version = "" if resource is None else str(resource.get("version", ""))
        return await self._render(_Filled(given, str(uuid4()), version), context)

    async def submit(self, then: Then, fixed: JsonObject | None = None, **context: object) -> Page:
        """Call the operation with what was entered, and go on with its answer; or show the form with what is wrong.

        `fixed` are further values of the request. A button that is of a row gives the form back with one more or less.
        """
        form = await request.form
        key, version = form.get(KEY_FIELD) or str(uuid4()), form.get(VERSION_FIELD, "")
        if BUTTON in form:
            given, focus, errors = reshaped(self.fields, form)
            return await self._render(_Filled(given, key, version, errors, focus=focus), context)
        try:
            answer = await self._call(form, fixed or {}, key, version)
        except Problem as problem:
            filled = _Filled(self.fields.given(form), key, version, problem.errors)
            return await self._refused(problem, filled, context)
        return await then(answer)

    async def _call(self, form: MultiDict[str, str], fixed: JsonObject, key: str, version: str) -> Any:
        """Call the operation with what was entered, and with the file where it takes one."""
        operation = self.page.operation
        if self.files is None:
            values = {**self.fields.values(form, clears=self.page.changes), **fixed}
            if version.isdecimal():
                values[VERSION_FIELD] = int(version)
            return await self.operations.call(operation, values, key)
        row = self.operations.row(operation)
        async with self.files.receive(row.area) as sent:
            if sent is None:
                raise invalid_field(FILE_FIELD, "required", "Choose a file.")
            named = {NAME_OF_FILE: sent.name} if NAME_OF_FILE in row.request.__struct_encode_fields__ else {}
            return await self.operations.call(operation, {**named, **self.fields.query(form), **fixed}, key, sent.file)

    async def _refused(self, problem: Problem, filled: "_Filled", context: Mapping[str, object]) -> Page:
        elsewhere = [error for error in self.fields.elsewhere(problem.errors) if error.path != FILE_FIELD]
        filled = filled._replace(problem=_said(problem, elsewhere))
        if problem.code == "idempotency_conflict":
            filled = filled._replace(key=str(uuid4()), problem=SENT_BEFORE)
        return await self._render(filled, context), problem.status

    async def _render(self, filled: "_Filled", context: Mapping[str, object]) -> str:
        options = {**(self.page.options or {}), **await _options(self.operations, self.page.entities)}
        return await render_template(
            self.page.template,
            page=self.page,
            fields=[*self.fields.shown(filled.given, filled.errors, options, filled.focus), *self._file(filled.errors)],
            has_file=self.files is not None,
            has_rows=any(leaf.inner for leaf in self.fields.leaves),
            hidden=_hidden(filled.key, filled.version),
            problem=filled.problem,
            has_errors=bool(filled.errors),
            **{"back": self.page.back, **context},
        )

    def _file(self, errors: Sequence[FieldError]) -> list[Field]:
        """The last field: what comes behind a file is not read."""
        if self.files is None:
            return []
        most = self.files.most(self.operations.row(self.page.operation).area)
        error = " ".join(error.message for error in errors if error.path == FILE_FIELD)
        hint = f"Up to {words.size(most)}."
        return [Field(name=FILE_FIELD, label="File", kind="file", hint=hint, error=error, required=True, most=most)]


class _Filled(NamedTuple):
    """A form as it is shown: what stands in it, what it carries, what is wrong with it, and where one goes on."""

    given: Texts
    key: str
    version: str
    errors: Sequence[FieldError] = ()
    problem: str = ""
    focus: str = ""


@dataclass(frozen=True, slots=True)
class QuestionView:
    """A question that can be asked, and answered by yes."""

    page: QuestionPage
    operations: Operations

    async def show(self, title: str, consequences: Sequence[str], back: str = "") -> str:
        """What will happen, and to what."""
        return await self._render(title, consequences, back, str(uuid4()), "")

    async def submit(self, then: Then, values: JsonObject, title: str, consequences: Sequence[str]) -> Page:
        """Do it, and go on with the answer; or ask again with what speaks against it."""
        key = (await request.form).get(KEY_FIELD) or str(uuid4())
        try:
            answer = await self.operations.call(self.page.operation, values, key)
        except Problem as problem:
            return await self._render(title, consequences, "", str(uuid4()), sentence(problem)), problem.status
        return await then(answer)

    async def _render(self, title: str, consequences: Sequence[str], back: str, key: str, problem: str) -> str:
        asked = Question(title, consequences, self.page.button, back or self.page.back, hidden=_hidden(key, ""))
        return await ask(asked, problem)


async def act(operations: Operations, operation: str, values: JsonObject, said: str, address: str) -> Response:
    """Do at once what a button of `components/act.html` asks for, and say so, or why not, at an address."""
    try:
        await operations.call(operation, values, (await request.form).get(KEY_FIELD))
    except Problem as problem:
        flash("danger", sentence(problem))
    else:
        flash("success", said)
    return see(address)


async def _options(operations: Operations, entities: Entities | None) -> dict[str, list[Option]]:
    """What there is to pick, of each field that names something of a list."""
    found = {}
    for path, (operation, name) in (entities or {}).items():
        answer = await operations.call(operation, {"limit": str(OPTIONS_MAX)})
        found[path] = [Option(row["id"], row[name]) for row in answer["data"]]
    return found


def _hidden(key: str, version: str) -> list[tuple[str, str]]:
    """What a form carries beside its fields: its key, for which organization it is, and what it was made from."""
    hidden = [(KEY_FIELD, key), (ORGANIZATION_FIELD, organization().id)]
    return [*hidden, (VERSION_FIELD, version)] if version else hidden


def _said(problem: Problem, elsewhere: Sequence[FieldError]) -> str:
    """What stands above a form: what is wrong but not with one of its fields."""
    if problem.errors and not elsewhere:
        return ""
    return " ".join(f"{error.path}: {error.message}" for error in elsewhere) or sentence(problem)
