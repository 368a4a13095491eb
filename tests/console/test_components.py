"""The components of pages: what each says, and that whatever it is given stays text."""

from collections.abc import Sequence
from typing import Any

import pytest
from quart import g

from gatewayd.console.components.charts import BarChart, LineChart, Part, Series, ShareChart, StackedBarChart
from gatewayd.console.components.shapes import (
    Action,
    Cell,
    Column,
    EmptyState,
    Field,
    FieldKind,
    Option,
    Row,
    Step,
    Table,
    TimelineEntry,
)
from gatewayd.console.parts import Visit
from tests.console.reading import Document, Element
from tests.console.visiting import Site
from tests.support.store import START

HOSTILE = "\"'><script>alert(1)</script>&amp;{{ 7 * 7 }}"
PAGE = '<html lang="en-GB"><body><h1>A page</h1><h2>A part</h2><main>{}</main></body></html>'
KINDS: Sequence[FieldKind] = ("text", "textarea", "email", "number", "money", "decimal", "date", "select", "choices")
KINDS = (*KINDS, "checkbox", "secret", "entity")


async def drawn(site: Site, name: str, *given: object, caller: str = "", file: str = "") -> Document:
    """A macro by its name, called with these; `caller` is the HTML between its ends. It has no fault."""
    names = ", ".join(f"given[{at}]" for at in range(len(given)))
    call = f"{{% call {name}({names}) %}}{caller}{{% endcall %}}" if caller else f"{{{{ {name}({names}) }}}}"
    source = f'{{% from "components/{file or name}.html" import {name} %}}{call}'
    async with site.app.test_request_context("/"):
        g.visit = Visit("token")
        html = await site.app.jinja_env.from_string(source).render_async(given=given)
    page = Document(PAGE.format(html).replace("<h1>A page</h1>", "" if "<h1>" in html else "<h1>A page</h1>"))
    assert page.faults == [], page.faults
    return page


def hostile_field(kind: FieldKind) -> Field:
    return Field(
        name="a",
        label=HOSTILE,
        kind=kind,
        hint=HOSTILE,
        error=HOSTILE,
        value=HOSTILE,
        values=(HOSTILE,),
        options=[Option(HOSTILE, HOSTILE)] * 13,
        required=True,
        most=9,
        currency=HOSTILE,
    )


CELL = Cell(text=HOSTILE, href=HOSTILE, tone="danger")
KINDS_OF_CELLS = ("text", "money", "number", "badge", "code")
TABLE = Table(
    caption=HOSTILE,
    columns=[Column(HOSTILE, kind) for kind in KINDS_OF_CELLS],
    rows=[Row(cells=[CELL] * 5, id=HOSTILE, label=HOSTILE, actions=[Action(HOSTILE, HOSTILE)])],
)
CHART: dict[str, Any] = {"title": HOSTILE, "heading": HOSTILE, "note": HOSTILE, "labels": [HOSTILE] * 3}
CHART |= {"series": [Series(HOSTILE, [1, 2, 3]), Series(HOSTILE, [3, 0, -1])], "text": lambda value: HOSTILE}
HOSTILE_CALLS: dict[str, tuple[object, ...]] = {
    "page_header": (HOSTILE, HOSTILE),
    "flash": ("success", HOSTILE),
    "confirmation": (HOSTILE, [HOSTILE, HOSTILE], HOSTILE, HOSTILE, HOSTILE, [(HOSTILE, HOSTILE)]),
    "badge": (HOSTILE, "warning"),
    "copyable": (HOSTILE, HOSTILE, True),
    "definition_list": ([(HOSTILE, CELL), (HOSTILE, Cell(items=[HOSTILE]))],),
    "data_table": (TABLE, "id"),
    "filter_bar": ([hostile_field("text")], HOSTILE),
    "pager": (HOSTILE, HOSTILE),
    "empty_state": (EmptyState(sentence=HOSTILE, action=Action(HOSTILE, HOSTILE), command=HOSTILE),),
    "bar_chart": (BarChart(**CHART),),
    "stacked_bar_chart": (StackedBarChart(**CHART),),
    "line_chart": (LineChart(**CHART),),
    "share_chart": (ShareChart(title=HOSTILE, heading=HOSTILE, measure=HOSTILE, parts=[Part(HOSTILE, 1)]),),
    "upload_drop": ("file", HOSTILE, HOSTILE, 20_000_000),
    "stepper": ([Step(HOSTILE, "done", HOSTILE), Step(HOSTILE, "current"), Step(HOSTILE, "next")],),
    "timeline": ([TimelineEntry(at=START, text=HOSTILE, by=HOSTILE, tone="danger")], START),
}


def said(page: Document) -> list[str]:
    """Every text and every value of an attribute in the page's main part."""

    def within(element: Element) -> list[str]:
        found = list(element.attributes.values())
        for child in element.children:
            found += [child] if isinstance(child, str) else within(child)
        return found

    return within(next(page.root.all("main")))


@pytest.mark.parametrize("name", HOSTILE_CALLS)
async def test_whatever_a_component_is_given_stays_text(site: Site, name: str) -> None:
    page = await drawn(site, name, *HOSTILE_CALLS[name])
    assert list(page.root.all("script")) == []
    assert any(HOSTILE in text for text in said(page))


@pytest.mark.parametrize("kind", KINDS)
async def test_whatever_a_field_is_given_stays_text(site: Site, kind: FieldKind) -> None:
    page = await drawn(site, "field", hostile_field(kind))
    assert list(page.root.all("script")) == []
    assert any(HOSTILE in text for text in said(page))
