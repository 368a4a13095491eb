"""Migration 0123: what was there of recurring invoices stays as it was, with its days, and may be sent from now on."""

import apsw
import pytest

from gatewayd.store.sqlite import connections, schema
from tests.support.store import START

pytestmark = pytest.mark.sqlite_only("the migration rebuilds a table where PostgreSQL changes a check")
_ROWS = """
INSERT INTO organizations (id, name, created_at) VALUES ('org_1', 'Oak', 0);
INSERT INTO clients (id, org_id, name, name_folded, kind, cc_emails, country_code, currency, payment_terms_days,
    cis_contractor, end_user, language, created_at, updated_at, version, search_text, wire)
VALUES ('cli_1', 'org_1', 'Harbour', 'harbour', 'company', '[]', 'GB', 'GBP', 30, 0, 0, 'en', 0, 0, 1, '', x'');
INSERT INTO recurring_invoices (id, org_id, status, client_id, every, unit, start_date, makes, next_date, next_index,
    made_count, currency, amounts_are, vat_rounding, discount_amount, lines, created_at, updated_at, version)
VALUES ('rec_1', 'org_1', 'active', 'cli_1', 2, 'month', '2026-11-20', 'issued', '2027-01-20', 1, 1, 'GBP', 'exclusive',
    'line', 7, '[]', 1, 2, 3);
INSERT INTO recurring_days (org_id, recurring_id, date, created_at) VALUES ('org_1', 'rec_1', '2026-11-20', 0);
"""


@pytest.fixture
def before(tmp_path_factory: pytest.TempPathFactory) -> apsw.Connection:
    """A database of the program before, with a recurring invoice that has made one."""
    connection = connections.open_writer(tmp_path_factory.mktemp("before") / "gatewayd.db", 1)
    schema.migrate(connection, schema.packaged()[:122], START)
    connection.execute(_ROWS)
    return connection


def test_rows_stay_and_may_be_sent(before: apsw.Connection) -> None:
    kept = before.execute("SELECT * FROM recurring_invoices").fetchall()
    schema.migrate(before, schema.packaged(), START)
    assert before.execute("SELECT * FROM recurring_invoices").fetchall() == kept
    assert before.execute("PRAGMA foreign_key_check").fetchall() == []
    before.execute("UPDATE recurring_invoices SET makes = 'sent'")
    with pytest.raises(apsw.ConstraintError):
        before.execute("UPDATE recurring_invoices SET makes = 'mailed'")
    with pytest.raises(apsw.ConstraintError):  # its days still know whose they are
        before.execute("DELETE FROM recurring_invoices")
