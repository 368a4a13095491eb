"""The log of every call of a tax operation: who asked for what, and how it ended. Owns the table `tax_calls`.

No body, no token and no header's value is kept; what was asked is told by the operation and the authority's own
correlation id.
"""

from typing import Final, NamedTuple

from gatewayd.clock import DAY, Instant
from gatewayd.ids import first_at
from gatewayd.store import ReadTx, WriteTx

KEPT: Final = 400 * DAY  # Chosen: a tax year and the month after it
SWEEP_ROWS: Final = 500  # of one transaction
PAGE_MAX: Final = 1_000  # Chosen
REFUSED: Final = "tax_reauthorisation_required"  # the code of a call whose connection the authority refused
NOT_KNOWN: Final = "tax_not_configured"  # and where it does not know this service

_INSERT = """
INSERT INTO tax_calls (
    id, org_id, at, request_id, credential_id, user_id, operation, status, code, correlation_id, milliseconds,
    legal_entity_id, warnings
) VALUES (
    :id, :org_id, :now, :request_id, :credential_id, :user_id, :operation, :status, :code, :correlation_id,
    :milliseconds, :legal_entity_id, :warnings
)
"""
_COLUMNS = """
at, request_id, credential_id, user_id, operation, status, code, correlation_id, milliseconds, legal_entity_id, warnings
"""
_LIST = f"SELECT {_COLUMNS} FROM tax_calls WHERE org_id = :org_id ORDER BY id DESC LIMIT :limit"
_LAST = f"""
SELECT {_COLUMNS} FROM tax_calls WHERE org_id = :org_id AND coalesce(legal_entity_id, '') = :of
    AND (status > 0 AND code IS NULL OR code IN ('{REFUSED}', '{NOT_KNOWN}'))
ORDER BY id DESC LIMIT 1
"""
_SWEEP_ANY_ORG = """
DELETE FROM tax_calls WHERE id IN (SELECT id FROM tax_calls WHERE id < :before ORDER BY id LIMIT :count)
"""


class TaxCall(NamedTuple):
    """One call. `code` is that of a problem of ours, None where the upstream's own answer was passed on.

    `status` is what the caller was answered, 0 where the caller had gone. `legal_entity_id` is whose own connection was
    used, None for the organization's and for none. `warnings` names headers with what is noted of each, None: nothing.
    """

    request_id: str
    credential_id: str
    user_id: str | None
    operation: str
    status: int
    code: str | None
    correlation_id: str | None
    milliseconds: int
    legal_entity_id: str | None = None
    warnings: str | None = None


class LoggedCall(NamedTuple):
    """A call and when it ended."""

    at: Instant
    call: TaxCall


def record(tx: WriteTx, call: TaxCall) -> None:
    """Add one call of the transaction's organization."""
    tx.run(_INSERT, id=tx.new_id("tcl"), **call._asdict())


def list_calls(tx: ReadTx, limit: int = 100) -> list[LoggedCall]:
    """The newest calls of the transaction's organization; at most `PAGE_MAX`."""
    return [LoggedCall(at, TaxCall(*row)) for at, *row in tx.rows(_LIST, limit=min(limit, PAGE_MAX))]


def find_last(tx: ReadTx, legal_entity_id: str | None) -> LoggedCall | None:
    """The newest call that tells how an entity's own connection is, or with None the organization's.

    Calls that ended before the authority answered, such as one that was refused here, are left out.
    """
    row = tx.row(_LAST, of=legal_entity_id or "")
    return None if row is None else LoggedCall(row[0], TaxCall(*row[1:]))


def sweep(tx: WriteTx) -> int:
    """Delete at most `SWEEP_ROWS` calls older than `KEPT`."""
    return tx.run(_SWEEP_ANY_ORG, before=first_at("tcl", tx.now - KEPT), count=SWEEP_ROWS)
