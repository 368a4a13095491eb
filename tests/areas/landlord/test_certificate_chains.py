"""Certificates made, changed and deleted at random: each chain is what sorting by the day of issue gives."""

from collections.abc import Callable
from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayd.clock import days_after
from tests.areas.landlord.premises import Premises
from tests.support.store import MemoryStore

TYPES = ("eicr", "gas_safety", "deposit_protection", "other")
TITLES = ("Roof", "ROOF", "Boiler")


class Step(NamedTuple):
    """What is done: to one that is there, where there is one, or a new one."""

    kind: str
    which: int
    type: int
    day: int
    unit: int
    tenancy: int
    title: int


STEPS = st.lists(
    st.builds(
        Step,
        kind=st.sampled_from(["create", "create", "create", "update", "update", "delete"]),
        which=st.integers(0, 9),
        type=st.integers(0, 3),
        day=st.integers(0, 6),
        unit=st.integers(0, 2),
        tenancy=st.integers(0, 2),
        title=st.integers(0, 2),
    ),
    min_size=1,
    max_size=16,
)


class Shelf:
    """One property, and what was entered of it: the oracle knows nothing but what was asked for."""

    def __init__(self, premises: Premises) -> None:
        self.premises = premises
        self.property_id = premises.property()
        self.units = [None, premises.unit(self.property_id), premises.unit(self.property_id)]
        self.tenancies = [None, premises.tenancy(self.property_id), premises.tenancy(self.property_id)]
        self.kept: dict[str, dict[str, object]] = {}

    def take(self, step: Step) -> None:
        fields: dict[str, object] = {
            "type": TYPES[step.type],
            "issuedDate": days_after("2026-01-01", step.day),
            "expiryDate": "2027-01-01",
            "unitId": self.units[step.unit],
            "tenancyId": self.tenancies[step.tenancy],
            "title": TITLES[step.title],
        }
        ids = list(self.kept)
        if step.kind == "create" or not ids:
            made = self.premises.post("createCertificate", propertyId=self.property_id, **fields)
            self.kept[made["id"]] = fields
            return
        id_ = ids[step.which % len(ids)]
        if step.kind == "delete":
            self.premises.post("deleteCertificate", id=id_)
            del self.kept[id_]
        else:
            self.premises.post("updateCertificate", id=id_, **fields)
            self.kept[id_] = fields

    def expected(self) -> dict[str, str | None]:
        """Who follows whom: those of one unit, type, and tenancy or title where these count, sorted."""
        chains: dict[tuple[object, ...], list[tuple[str, str]]] = {}
        for id_, fields in self.kept.items():
            type_ = fields["type"]
            tenancy = fields["tenancyId"] if type_ == "deposit_protection" else None
            title = str(fields["title"]).lower() if type_ == "other" else None
            chain = chains.setdefault((type_, fields["unitId"], tenancy, title), [])
            chain.append((str(fields["issuedDate"]), id_))
        found: dict[str, str | None] = {}
        for chain in chains.values():
            ids = [id_ for _, id_ in sorted(chain)]
            found |= dict(zip(ids, [*ids[1:], None], strict=True))
        return found


@given(steps=STEPS)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_chain_is_what_sorting_gives(fresh_store: Callable[[], MemoryStore], steps: list[Step]) -> None:
    store = fresh_store()
    try:
        shelf = Shelf(Premises(store))
        for step in steps:
            shelf.take(step)
        rows = shelf.premises.walk("listCertificates", "includeSuperseded=true&windowDays=0")
        assert {row["id"]: row["supersededById"] for row in rows} == shelf.expected()
        current = {id_ for id_, follower in shelf.expected().items() if follower is None}
        assert {row["id"] for row in rows if row["status"] == "valid"} == current
        assert {row["id"] for row in rows if row["status"] == "superseded"} == set(shelf.kept) - current
    finally:
        store.close()
