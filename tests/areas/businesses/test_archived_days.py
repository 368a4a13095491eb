"""The day on which a business was archived is one of London, for those archived before it was stored too."""

import apsw
import pytest

from gatewayd.clock import from_wire, london_date
from gatewayd.store.sqlite import schema
from tests.areas.businesses.trades import Firm

INSTANTS = (
    "2026-01-31T23:59:59Z",
    "2026-03-28T23:30:00Z",  # the day before summer time
    "2026-03-29T00:59:59Z",
    "2026-03-29T23:00:00Z",
    "2026-07-31T22:59:59Z",
    "2026-07-31T23:00:00Z",
    "2026-10-24T23:00:00Z",
    "2026-10-25T00:59:59Z",
    "2026-10-25T23:30:00Z",  # winter time again
    "2025-03-30T23:30:00Z",
    "2025-10-26T23:30:00Z",
    "2030-03-31T23:15:00Z",
)


@pytest.mark.parametrize("text", INSTANTS)
def test_the_migration_has_the_day(text: str) -> None:
    (update,) = [one.sql for one in schema.packaged() if "date_archived_businesses" in one.name]
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE businesses (archived_at INTEGER)")
    archived_at = from_wire(text)
    connection.execute("INSERT INTO businesses VALUES (?), (NULL)", (archived_at,))
    connection.execute(update)
    found = connection.execute("SELECT archived_on FROM businesses ORDER BY archived_at IS NULL").fetchall()
    assert found == [(london_date(archived_at),), (None,)]


def test_archiving_keeps_it_and_coming_back_forgets_it(firm: Firm) -> None:
    trade = firm.create()
    firm.store.clock.advance(from_wire("2027-07-31T23:30:00Z") - firm.store.clock.now())

    def stored() -> object:
        return firm.store.read(lambda tx: tx.value("SELECT archived_on FROM businesses"), firm.org_id)

    assert stored() is None
    firm.archive(trade["id"])
    assert stored() == "2027-08-01"
    firm.move(trade["id"], "active")
    assert stored() is None
