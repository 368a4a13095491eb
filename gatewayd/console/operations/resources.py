"""The pages of a kind of thing that people keep: its list, a new one, one to change, and its end.

<address>              the list
<address>/new          a form, and the thing it makes
<address>/<id>         the same form with what is there
<address>/<id>/end     the question before it is archived or removed
"""

from dataclasses import dataclass

from quart import Quart

from gatewayd.console.browser import flash, see
from gatewayd.console.operations.calls import Operations
from gatewayd.console.operations.lists import JsonObject
from gatewayd.console.operations.pages import FormPage, ListPage, OperationPages, Page, QuestionPage
from gatewayd.console.pages import add_page


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """What the pages of one kind of thing are made of.

    `get` is the operation that answers one, by `id_name`, which the others take too; `name` is the member that it is
    called by. `consequences` say what its end means, `ended` what has come of it, as in "archived".
    """

    listed: ListPage
    new: FormPage
    get: str
    id_name: str
    change: FormPage
    end: QuestionPage
    consequences: tuple[str, ...]
    ended: str
    name: str = "name"

    @property
    def address(self) -> str:
        return self.listed.address


class ResourcePages:
    """The pages of one kind of thing."""

    def __init__(self, operations: Operations, pages: OperationPages, resource: Resource) -> None:
        self._operations = operations
        self._resource = resource
        self._list = pages.list_of(resource.listed)
        self._new, self._change = pages.form_of(resource.new), pages.form_of(resource.change)
        self._end = pages.question_of(resource.end)

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        address = self._resource.address
        add_page(app, "GET", address, self.show_list)
        add_page(app, "GET", f"{address}/new", self.show_new)
        add_page(app, "POST", f"{address}/new", self.create)
        add_page(app, "GET", f"{address}/<resource_id>", self.show)
        add_page(app, "POST", f"{address}/<resource_id>", self.change)
        add_page(app, "GET", f"{address}/<resource_id>/end", self.ask_end)
        add_page(app, "POST", f"{address}/<resource_id>/end", self.end)

    async def show_list(self) -> str:
        return await self._list.show()

    async def show_new(self) -> str:
        return await self._new.show()

    async def create(self) -> Page:
        return await self._new.submit(lambda made: self._leave(f"{self._name(made)} was added."))

    async def show(self, resource_id: str) -> str:
        found = await self._find(resource_id)
        end = f"{self._resource.address}/{resource_id}/end"
        return await self._change.show(found, title=self._name(found), end=end, end_label=self._resource.end.button)

    async def change(self, resource_id: str) -> Page:
        fixed = {self._resource.id_name: resource_id}
        return await self._change.submit(lambda changed: self._leave(f"{self._name(changed)} was changed."), fixed)

    async def ask_end(self, resource_id: str) -> str:
        found = await self._find(resource_id)
        return await self._end.show(self._question(found), self._resource.consequences)

    async def end(self, resource_id: str) -> Page:
        found, fixed = await self._find(resource_id), {self._resource.id_name: resource_id}
        said = f"{self._name(found)} was {self._resource.ended}."
        question, consequences = self._question(found), self._resource.consequences
        return await self._end.submit(lambda _: self._leave(said), fixed, question, consequences)

    async def _find(self, resource_id: str) -> JsonObject:
        found: JsonObject = await self._operations.call(self._resource.get, {self._resource.id_name: resource_id})
        return found

    async def _leave(self, said: str) -> Page:
        flash("success", said)
        return see(self._resource.address)

    def _name(self, found: JsonObject) -> str:
        return str(found[self._resource.name])

    def _question(self, found: JsonObject) -> str:
        verb, *_ = self._resource.end.button.split()
        return f"{verb} {self._name(found)}?"
