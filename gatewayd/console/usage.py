"""`/developers/usage`: what an organization has used, day by day, and what is left of its credits (Domain B8)."""

import datetime
from collections.abc import Sequence
from typing import Final, NamedTuple

from quart import Quart, render_template, request
from werkzeug.exceptions import NotFound

from gatewayd.console.addresses import USAGE
from gatewayd.console.browser import signed_in
from gatewayd.console.pages import add_page
from gatewayd.console.parts import ConsoleParts
from gatewayd.identity.people import memberships, organizations
from gatewayd.identity.people.organizations import Organization
from gatewayd.ledger.credits import balances, plans, usage
from gatewayd.ledger.credits import usage as credit_usage
from gatewayd.ledger.credits.shapes import CreditBalance, PlanRow, UsageDay, UsageTotals
from gatewayd.money import credits_text
from gatewayd.store import ReadTx

WIDTH: Final = 600
HEIGHT: Final = 140
_GAP: Final = 0.2
"""Of the place of each bar."""
_LEAST: Final = 2.0
"""The height of what is little but not nothing."""
DAYS: Final = 30
OTHERS_SHOWN: Final = 50
_ZONE: Final = "Europe/London"


class Bar(NamedTuple):
    """One rectangle in `WIDTH` by `HEIGHT`, and what is said of it."""

    x: float
    y: float
    width: float
    height: float
    label: str


class Point(NamedTuple):
    """What one bar stands for: a number that is not negative."""

    value: int
    label: str


def bars(points: Sequence[Point]) -> list[Bar]:
    """A bar for each point, from left to right; the largest has all of the height, and nothing has none."""
    if not points:
        return []
    most = max(point.value for point in points)
    place = WIDTH / len(points)
    return [_bar(number * place, place, point, most) for number, point in enumerate(points)]


def _bar(left: float, place: float, point: Point, most: int) -> Bar:
    height = max(_LEAST, point.value / most * HEIGHT) if point.value else 0.0
    x, width = left + place * _GAP / 2, place * (1 - _GAP)
    return Bar(round(x, 2), round(HEIGHT - height, 2), round(width, 2), round(height, 2), point.label)


class Metered(NamedTuple):
    """An organization that has a plan: what is left of its credits, and what it used."""

    plan: PlanRow
    balance: CreditBalance
    days: list[UsageDay]
    totals: UsageTotals
    charts: list["Chart"]


class Chart(NamedTuple):
    """A bar for each day. `most` is what the highest stands for."""

    title: str
    total: str
    most: str
    bars: list[Bar]


class Usage:
    """The page of usage."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._store = parts.store

    def add_to(self, app: Quart) -> None:
        """Put the page where it belongs."""
        add_page(app, "GET", USAGE, self.show)

    async def show(self) -> str:
        """Of the organization that is named, else of the first. Raises `NotFound` for one that is not the visitor's."""
        _, user = signed_in()
        named = request.args.get("organization")

        def look(tx: ReadTx) -> dict[str, object]:
            of_user = [each.org_id for each in memberships.of_user(tx, user.id)]
            if named is not None and named not in of_user:
                raise NotFound
            shown = named or (of_user[0] if of_user else None)
            others = [organizations.get(tx, each) for each in of_user if each != shown][:OTHERS_SHOWN]
            return {"others": others, **({"shown": None} if shown is None else _of_organization(tx, shown))}

        context = await self._store.read_later(look, None)
        return await render_template("usage.html", width=WIDTH, height=HEIGHT, count=DAYS, **context)


def left(tx: ReadTx, org_id: str) -> CreditBalance | None:
    """What is left of an organization's credits; None: it has no plan, and nothing is metered."""
    tx.bind(org_id)
    return balances.balance_at(tx, None) if plans.current(tx) is not None else None


def _of_organization(tx: ReadTx, org_id: str) -> dict[str, object]:
    organization: Organization = organizations.get(tx, org_id)
    balance = left(tx, org_id)
    return {"shown": organization, "metered": None if balance is None else _metered(tx, balance)}


def _metered(tx: ReadTx, balance: CreditBalance) -> Metered:
    last = datetime.date.fromisoformat(tx.today)
    first = last - datetime.timedelta(days=DAYS - 1)
    used = usage.by_day(tx, first, last, usage.time_zone(_ZONE))
    days = [usage.day_of(date, sums) for date, sums in used]
    totals = usage.totals_of(credit_usage.added(sums for _, sums in used))
    assert balance.plan_id is not None
    return Metered(plans.get(tx, balance.plan_id), balance, days, totals, _charts(days, totals))


def _charts(days: Sequence[UsageDay], totals: UsageTotals) -> list[Chart]:
    spent = [Point(day.credits, f"{day.date}: {credits_text(day.credits)}") for day in days]
    charged = [Point(day.operations, f"{day.date}: {day.operations}") for day in days]
    return [
        Chart("Credits", credits_text(totals.credits), credits_text(max(day.credits for day in days)), bars(spent)),
        Chart("Charged requests", str(totals.operations), str(max(day.operations for day in days)), bars(charged)),
    ]
