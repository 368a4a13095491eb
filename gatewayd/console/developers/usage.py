"""`/developers/usage`: what an organization has used, day by day, and what is left of its credits (Domain B8)."""

import datetime
from collections.abc import Sequence
from typing import Final, NamedTuple

from quart import Quart, render_template
from werkzeug.exceptions import NotFound

from gatewayd.console.addresses import USAGE
from gatewayd.console.browser import signed_in, visit
from gatewayd.console.components.charts import BarChart, Series
from gatewayd.console.components.shapes import Cell, Column, Row, Table
from gatewayd.console.components.words import day
from gatewayd.console.pages import add_page
from gatewayd.console.parts import ConsoleParts
from gatewayd.ledger.credits import balances, plans, usage
from gatewayd.ledger.credits import usage as credit_usage
from gatewayd.ledger.credits.shapes import CreditBalance, PlanRow, UsageDay, UsageTotals
from gatewayd.money import credits_text
from gatewayd.store import ReadTx

DAYS: Final = 30
ENDING_SHOWN: Final = 5
_ZONE: Final = "Europe/London"


class Metered(NamedTuple):
    """An organization that has a plan: what is left of its credits, and what it used.

    `facts` say the first in words; `operations` is the second by what was done, the most often first.
    """

    plan: PlanRow
    balance: CreditBalance
    facts: list[tuple[str, Cell]]
    charts: list[BarChart]
    operations: Table


class Usage:
    """The page of usage."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._store = parts.store

    def add_to(self, app: Quart) -> None:
        """Put the page where it belongs."""
        add_page(app, "GET", USAGE, self.show)

    async def show(self) -> str:
        """Of the organization that the pages are of. Raises `NotFound` for one that is not the visitor's."""
        signed_in()
        there = visit()
        if there.chosen is None:
            if there.belongs:
                raise NotFound
            return await render_template("developers/usage.html")
        shown = there.chosen.id
        metered = await self._store.read_later(lambda tx: _metered(tx, left(tx, shown)), None)
        return await render_template("developers/usage.html", metered=metered, count=DAYS)


def left(tx: ReadTx, org_id: str) -> CreditBalance | None:
    """What is left of an organization's credits; None: it has no plan, and nothing is metered."""
    tx.bind(org_id)
    return balances.balance_at(tx, None) if plans.current(tx) is not None else None


def _metered(tx: ReadTx, balance: CreditBalance | None) -> Metered | None:
    if balance is None:
        return None
    last = datetime.date.fromisoformat(tx.today)
    first = last - datetime.timedelta(days=DAYS - 1)
    used = usage.by_day(tx, first, last, usage.time_zone(_ZONE))
    days = [usage.day_of(date, sums) for date, sums in used]
    totals = usage.totals_of(credit_usage.added(sums for _, sums in used))
    assert balance.plan_id is not None
    plan = plans.get(tx, balance.plan_id)
    return Metered(plan, balance, _facts(plan, balance), _charts(days, totals), _operations(totals))


def _facts(plan: PlanRow, balance: CreditBalance) -> list[tuple[str, Cell]]:
    held = f", and {credits_text(balance.held)} held for what is under way" if balance.held else ""
    included = f", with {credits_text(plan.included_credits)} credits a month" if plan.included_credits else ""
    facts = [
        ("Available", Cell(text=f"{credits_text(balance.available)} credits{held}")),
        ("Plan", Cell(text=f"{plan.name}{included}")),
    ]
    ending = [f"{credits_text(each.amount)} on {day(each.expires_at)}" for each in balance.expiring_soon[:ENDING_SHOWN]]
    return [*facts, ("Expiring", Cell(items=ending))] if ending else facts


def _charts(days: Sequence[UsageDay], totals: UsageTotals) -> list[BarChart]:
    labels = [day(each.date) for each in days]
    shown = (
        ("Credits", credits_text, totals.credits, [each.credits for each in days]),
        ("Charged requests", str, totals.operations, [each.operations for each in days]),
    )
    return [
        BarChart(
            title=f"{name}: {text(total)}",
            heading="Day",
            labels=labels,
            series=[Series(name, values)],
            text=text,
            note=f"at most {text(max(values))} in a day" if total else "",
        )
        for name, text, total, values in shown
    ]


def _operations(totals: UsageTotals) -> Table:
    rows = [
        Row(cells=[Cell(text=operation), Cell(text=str(used.count)), Cell(text=credits_text(used.credits))])
        for operation, used in totals.by_operation.items()
    ]
    columns = [Column("Operation", "code"), Column("Requests", "number"), Column("Credits", "number")]
    return Table(caption="Usage by operation", columns=columns, rows=rows)
