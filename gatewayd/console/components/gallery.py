"""`/gallery`: every component with what is long and much, for people, screenshots and tests. Not in production."""

from typing import Final

from quart import Quart, render_template

from gatewayd.clock import DAY, HOUR, MINUTE, Instant
from gatewayd.console.addresses import GALLERY
from gatewayd.console.browser import signed_in
from gatewayd.console.components import words
from gatewayd.console.components.charts import BarChart, LineChart, Part, Series, ShareChart, StackedBarChart
from gatewayd.console.components.shapes import (
    Action,
    Cell,
    Column,
    EmptyState,
    Field,
    Option,
    Row,
    Step,
    Table,
    TimelineEntry,
    Tone,
)
from gatewayd.console.pages import add_page
from gatewayd.console.parts import ConsoleParts
from gatewayd.money import MICRO, credits_text

ROWS: Final = 16
ROWS_OF_A_PAGE: Final = 50
"""As many as a page of a list has at most."""
LONG_NAME: Final = (
    "The Honourable Company of Edge-Tool Makers of Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch"
)
_NAMES: Final = ("Birch & Daughters Ltd", "Oak Joinery", LONG_NAME, "Müller & Söhne GmbH", "Elm", "Rowan Tree Lettings")
_STATES: Final[tuple[tuple[str, Tone], ...]] = (
    ("Paid", "success"),
    ("Overdue", "danger"),
    ("Sent", "information"),
    ("Due soon", "warning"),
    ("Draft", "neutral"),
)
_MONTHS: Final = ("Jun", "Jul", "Aug", "Sep", "Oct", "Nov")


class Gallery:
    """The page of all components."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._clock = parts.clock

    def add_to(self, app: Quart) -> None:
        """Put the page where it belongs."""
        add_page(app, "GET", GALLERY, self.show)
        add_page(app, "GET", f"{GALLERY}/list", self.show_list)

    async def show(self) -> str:
        """For who is signed in, so that it stands in the shell."""
        signed_in()
        now = self._clock.now()
        return await render_template(
            "gallery.html",
            now=now,
            moments=[now - 20, now - 3 * MINUTE, now - 5 * HOUR, now + 2 * DAY, now - 40 * DAY],
            states=_STATES,
            facts=_facts(now),
            fields=_fields(),
            filters=_filters(),
            table=_table(now, ROWS),
            keys=_keys(now),
            charts=_charts(),
            shares=_shares(),
            empty=_empty(),
            steps=[
                Step("Where it comes from", "done", "#steps"),
                Step("Which account", "done"),
                Step("Look at the rows", "current"),
                Step("Keep them", "next"),
            ],
            entries=_entries(now),
            secret="gw_live_" + "9fK2mQ7xT4" * 5,
        )

    async def show_list(self) -> str:
        """A page of a long list."""
        signed_in()
        table = _table(self._clock.now(), ROWS_OF_A_PAGE)
        return await render_template("gallery_list.html", table=table, filters=_filters(), lines=_lines())


def _facts(now: Instant) -> list[tuple[str, Cell]]:
    return [
        ("Name", Cell(text=LONG_NAME)),
        ("State", Cell(text="Overdue", tone="danger", kind="badge")),
        ("Client", Cell(text="Birch & Daughters Ltd", href="#facts")),
        ("Total", Cell(text=words.money(123_450, "GBP"), kind="money")),
        ("Issued", Cell(at=Instant(now - 40 * DAY), kind="date")),
        ("Last sent", Cell(at=Instant(now - 3 * HOUR), kind="moment")),
        ("May", Cell(items=["Read invoices and clients", "Create and update invoices", "Read tax obligations"])),
        ("Reference", Cell(text="inv_01J9ZK3V5W8Q2M4N6P7R", kind="code")),
    ]


def _fields() -> list[Field]:
    clients = [Option(f"client-{number}", f"{_NAMES[number % 6]} {number}") for number in range(14)]
    countries = [Option("GB", "United Kingdom"), Option("IE", "Ireland"), Option("DE", "Germany")]
    return [
        Field(name="name", label="Name", required=True, most=160, hint="As it stands on invoices."),
        Field(name="email", label="Email", kind="email", value="no-at-sign", error="Expected an address with an @."),
        Field(name="client", label="Client", kind="entity", options=clients, required=True),
        Field(name="country", label="Country", kind="select", options=countries, value="IE"),
        Field(name="total", label="Total", kind="money", currency="GBP", value="1234.50", hint="VAT included."),
        Field(name="rate", label="Exchange rate", kind="decimal", value="1.1725"),
        Field(name="days", label="Days to pay", kind="number", value="30"),
        Field(
            name="due", label="Due", kind="date", value="2026-11-22", error="Expected the issue date or a later one."
        ),
        Field(name="notes", label="Notes", kind="textarea", most=2000, value="Two\nlines"),
        Field(name="secret", label="Password of the link", kind="secret"),
        Field(
            name="scopes",
            label="What it may do",
            kind="choices",
            values=["read"],
            options=[Option("read", "Read invoices and clients"), Option("write", "Create and update invoices")],
            hint="The least that it needs.",
        ),
        Field(name="agreed", label="Send a reminder when it is overdue", kind="checkbox", value="true"),
    ]


def _filters() -> list[Field]:
    states = [Option("", "Any state"), *(Option(name.lower(), name) for name, _ in _STATES)]
    return [
        Field(name="q", id="filter-q", label="Words", value="birch"),
        Field(name="status", id="filter-status", label="State", kind="select", options=states),
        Field(name="from", id="filter-from", label="From", kind="date"),
    ]


def _table(now: Instant, count: int) -> Table:
    columns = [
        Column("Number"),
        Column("Client"),
        Column("Issued", "date"),
        Column("Last seen", "moment"),
        Column("State", "badge"),
        Column("Total", "money"),
    ]
    return Table(caption="Invoices", columns=columns, rows=[_row(now, number) for number in range(count)], now=now)


def _row(now: Instant, number: int) -> Row:
    state, tone = _STATES[number % len(_STATES)]
    cells = [
        Cell(text=f"INV-{1000 + number}", href="#table"),
        Cell(text=_NAMES[number % len(_NAMES)]),
        Cell(at=Instant(now - number * 9 * DAY)),
        Cell(at=Instant(now - number * number * HOUR)),
        Cell(text=state, tone=tone),
        Cell(text=words.money((number * 7919) ** 2 % 10_000_000 - 500_000, "GBP")),
    ]
    return Row(cells=cells, id=f"invoice-{number}", label=f"INV-{1000 + number}")


def _keys(now: Instant) -> Table:
    columns = [Column("Name"), Column("Key", "code"), Column("Last used", "moment")]
    rows = [
        Row(
            cells=[Cell(text=name), Cell(text="gw_live_9fK2…"), Cell(at=Instant(now - at * HOUR))],
            actions=[Action("Rotate", "#keys"), Action("Revoke", "#keys")],
        )
        for at, name in enumerate(("Till", LONG_NAME, "Accountant"), 1)
    ]
    return Table(caption="API keys", columns=columns, rows=rows, now=now)


def _charts() -> dict[str, BarChart | StackedBarChart | LineChart]:
    days = [f"{number + 1} Nov" for number in range(11)]
    spent = [Series("Credits", [(number * 37 % 11) * MICRO for number in range(11)])]
    income = Series("Income", [number * 7919 % 400_000 + 100_000 for number in range(6)])
    costs = Series("Costs", [number * 3571 % 250_000 + 20_000 for number in range(6)])
    profit = Series("Profit", [a - b - 150_000 for a, b in zip(income.values, costs.values, strict=True)])

    def pounds(amount: int) -> str:
        return words.money(amount, "GBP")

    return {
        "bars": BarChart(
            title="Credits by day", heading="Day", labels=days, series=spent, text=credits_text, note="the last 11 days"
        ),
        "pairs": BarChart(
            title="Income and costs", heading="Month", labels=_MONTHS, series=[income, costs], text=pounds
        ),
        "stacked": StackedBarChart(
            title="Where money went", heading="Month", labels=_MONTHS, series=[costs, income, profit], text=pounds
        ),
        "line": LineChart(
            title="Profit and costs", heading="Month", labels=_MONTHS, series=[profit, costs], text=pounds
        ),
    }


def _shares() -> ShareChart:
    parts = [Part("Rents", 1_250_000), Part("Interest", 430_000), Part("Repairs", 310_000), Part(LONG_NAME, 90_000)]
    parts += [Part("Insurance", 45_000), Part("Ground rent", 1_000)]
    title = "Costs of the year"
    return ShareChart(
        title=title, heading="Kind", measure="Amount", parts=parts, text=lambda value: words.money(value, "GBP")
    )


def _empty() -> EmptyState:
    command = 'curl https://books.example/api/rpc/clients -H "Authorization: Bearer $KEY" -d \'{"name": "Birch"}\''
    return EmptyState(
        sentence="Clients are whom you invoice. There are none yet.",
        action=Action("Add a client", "#empty"),
        command=command,
    )


def _entries(now: Instant) -> list[TimelineEntry]:
    return [
        TimelineEntry(at=Instant(now - 3 * MINUTE), text="Paid in full", by="Ann Oak", tone="success"),
        TimelineEntry(at=Instant(now - 5 * HOUR), text="The delivery failed: 503 from hooks.example", tone="danger"),
        TimelineEntry(at=Instant(now - 4 * DAY), text="A reminder was sent", tone="warning"),
        TimelineEntry(at=Instant(now - 40 * DAY), text=f"Sent to {LONG_NAME}", by="Ann Oak", tone="information"),
        TimelineEntry(at=Instant(now - 41 * DAY), text="Created", by="the key Till"),
    ]


def _lines() -> Field:
    """Fields in rows, one of them with something wrong."""

    def row(number: int, description: str, error: str = "") -> list[Field]:
        name = f"lines.{number}"
        return [
            Field(name=f"{name}.description", label="Description", value=description),
            Field(name=f"{name}.quantity", label="Quantity", kind="decimal"),
            Field(name=f"{name}.price", label="Price of one", kind="money", currency="GBP", error=error),
        ]

    rows = [row(0, "Oak door"), row(1, LONG_NAME, "Say what one costs, such as 250.00.")]
    return Field(name="lines", label="What is sold", kind="rows", rows=rows, one="line", most=200)
