"""The owner lets two houses: one lacks a certificate, one rent is late, and the dashboard says so."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from gatewayd.cli.demo.firm import Firm
from gatewayd.cli.demo.http import ApiClient, DemoFailed
from gatewayd.clock import days_after

POSTCODE: Final = "LS12 4AB"
WITHOUT_GAS_RECORD: Final = "9 Mill Lane"
_WEEKS: Final = 12
"""How many rents have fallen due by today, each a week after the one before, the last of them yesterday."""
_NAMES: Final = {"gas_safety": "gas safety certificate"}


class _Let(NamedTuple):
    """A house with who lives in it: what it cost, its worth, what is owed on it, the rent of a week, the deposit.

    Then how many rents came, the certificates, and what was spent: the category, days from today, how much, for what.
    `loan` None: nothing is owed.
    """

    name: str
    tenant: str
    email: str
    price: str
    value: str
    loan: str | None
    rent: str
    deposit: str
    paid: int
    certificates: tuple[str, ...]
    costs: tuple[tuple[str, int, str, str], ...] = ()


_LETS: Final = (
    _Let(
        name="4 Elm Row",
        tenant="Rob Thorn",
        email="rob.thorn@example.net",
        price="142000.00",
        value="185000.00",
        loan="98000.00",
        rent="180.00",
        deposit="720.00",
        paid=_WEEKS,
        certificates=("epc", "eicr", "gas_safety"),
        costs=(
            ("residentialFinancialCost", -47, "391.18", "Interest of the mortgage"),
            ("residentialFinancialCost", -16, "391.18", "Interest of the mortgage"),
            ("repairsAndMaintenance", -33, "148.00", "Boiler serviced"),
        ),
    ),
    _Let(
        name=WITHOUT_GAS_RECORD,
        tenant="Lena Sorrel",
        email="lena.sorrel@example.net",
        price="131500.00",
        value="160000.00",
        loan=None,
        rent="150.00",
        deposit="600.00",
        paid=_WEEKS - 1,
        certificates=("epc", "eicr"),
    ),
)
_MORTGAGE: Final = {
    "lender": "Aire Building Society",
    "type": "interest_only",
    "rateType": "fixed",
    "interestRate": "4.79",
    "reversionRate": "7.24",
    "termMonths": 300,
}


def _mortgage(loan: str, today: str) -> dict[str, str]:
    """What of a mortgage depends on the day: its rate is fixed for half a year more."""
    return {"originalAmount": loan, "startDate": days_after(today, -1640), "rateEndDate": days_after(today, 185)}


class LetsScene:
    """The owner, with a key that reads and writes books."""

    def __init__(self, api: ApiClient, firm: Firm) -> None:
        self._firm = firm
        self._books, self._api = api, api.under("/landlord")

    async def run(self, today: str, say: Callable[[str], None]) -> None:
        """All of it, told as it goes. `today` is ISO. Raises `DemoFailed`."""
        names = {await self._let(let, today): let.name for let in _LETS}
        say(
            f"11. {self._firm.person_name} lets {' and '.join(names.values())}; their rents and certificates are noted."
        )
        dashboard = await self._api.get("/getDashboardSummary", {"businessId": self._firm.lets_id})
        say(
            f"     The dashboard: {dashboard['letUnitCount']} of {dashboard['unitCount']} let,"
            f" {dashboard['monthlyRentRoll']} a month, {dashboard['grossYieldPercent']} % of the"
            f" {dashboard['portfolioValue']} they are worth."
        )
        await self._say_late(dashboard, names, say)
        await self._say_missing(dashboard, names, say)

    async def _let(self, let: _Let, today: str) -> str:
        """One house with all that is known of it; answers its id."""
        values = {"name": let.name, "type": "house", "gasSupply": True, "licensing": "none", "bedrooms": 2}
        values |= {"acquisitionDate": days_after(today, -1800), "purchasePrice": let.price}
        address = {"line1": let.name, "town": "Leeds", "postcode": POSTCODE, "countryCode": "GB"}
        made = await self._api.post("/createProperty", {"businessId": self._firm.lets_id, "address": address, **values})
        of = {"propertyId": made["id"]}
        worth = {"valuationDate": days_after(today, -200), "amount": let.value, "method": "agent"}
        await self._api.post("/createPropertyValuation", {**of, **worth})
        if let.loan is not None:
            await self._api.post("/createMortgage", {**of, **_MORTGAGE, **_mortgage(let.loan, today)})
        for category, day, amount, description in let.costs:
            cost = {"category": category, "direction": "out", "amount": amount, "description": description, **of}
            await self._books.post("/allocations", {"parts": [cost], "date": days_after(today, day)})
        for type_ in let.certificates:
            await self._api.post("/createCertificate", {**of, "type": type_, "issuedDate": days_after(today, -120)})
        first = days_after(today, -1 - 7 * (_WEEKS - 1))
        checked = {"rightToRent": {"status": "passed", "checkedDate": days_after(first, -8)}}
        person = {"kind": "person", "name": let.tenant, "email": let.email, **checked}
        tenant = await self._api.post("/createTenant", person)
        terms = {"tenantIds": [tenant["id"]], "startDate": first, "rentAmount": let.rent, "rentFrequency": "weekly"}
        deposit = {"amount": let.deposit, "scheme": "dps", "receivedDate": first, "protectedDate": days_after(first, 9)}
        tenancy = await self._api.post("/createTenancy", {**of, **terms, "deposit": deposit})
        for week in range(let.paid):
            rent = {"tenancyId": tenancy["id"], "date": days_after(first, 7 * week), "amount": let.rent}
            await self._api.post("/recordRent", rent)
        return str(made["id"])

    async def _say_late(self, dashboard: dict[str, Any], names: dict[str, str], say: Callable[[str], None]) -> None:
        late = dashboard["arrears"]["tenancies"]
        if len(late) != 1:
            raise DemoFailed(f"one rent is late, and not {late}")
        (tenancy,) = late
        where, days = names[tenancy["propertyId"]], tenancy["daysOldest"]
        say(f"     Rent is late: {tenancy['amount']} for {where}, {days} {'day' if days == 1 else 'days'}.")

    async def _say_missing(self, dashboard: dict[str, Any], names: dict[str, str], say: Callable[[str], None]) -> None:
        missing = (await self._api.get("/listCertificates", {"status": "missing"}))["data"]
        if len(missing) != dashboard["certificates"]["missing"] or not missing:
            raise DemoFailed(f"a certificate is missing, and not {missing}")
        for certificate in missing:
            type_, where = certificate["type"], names[certificate["propertyId"]]
            say(f"     Missing: the {_NAMES.get(type_, type_)} of {where}.")
