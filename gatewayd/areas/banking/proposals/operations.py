"""Proposals for bank transactions of which something is unallocated: their operation."""

from gatewayd.areas.banking.proposals.proposer import Proposer
from gatewayd.areas.banking.proposals.shapes import ListProposals, ProposedFor
from gatewayd.clock import LAST_DATE
from gatewayd.contract.caller import Caller
from gatewayd.contract.operation import Operation
from gatewayd.contract.pages import MAX_KEY, Listing, Page, cursor_key, next_cursor
from gatewayd.contract.wire import encode
from gatewayd.errors import invalid, invalid_field
from gatewayd.ledger import references
from gatewayd.ledger.allocating import bank_lines
from gatewayd.ledger.allocating.bank_lines import BankLine, Position
from gatewayd.ledger.references import Reference, unknown_reference
from gatewayd.store import ReadTx


def list_proposals(tx: ReadTx, caller: Caller, request: ListProposals) -> Listing[ProposedFor]:
    """List bank transactions of which something is unallocated, with what they probably are.

    Proposals follow from a rule, from what was chosen for such lines before, from an open invoice, from the rent of a
    tenancy, or from the other end of a transfer. Each has a score and a reason, and nothing is done by itself. The
    lines are those of an account, latest first, or the one that is named.
    """
    lines, cursor = _lines(tx, request)
    proposer = Proposer(tx)
    return Listing.of([encode(proposer.proposed_for(line)) for line in lines], cursor)


def _lines(tx: ReadTx, request: ListProposals) -> tuple[list[BankLine], str | None]:
    key = cursor_key(request, str, str) or (LAST_DATE, MAX_KEY)
    if (request.account_id is None) == (request.bank_transaction_id is None):
        raise invalid_field("accountId", "required", "Give either `accountId` or `bankTransactionId`.")
    if request.account_id is None:
        line = bank_lines.find(tx, request.bank_transaction_id or "")
        if line is None:
            raise invalid(unknown_reference("bankTransactionId", "bank_transaction"))
        return ([line] if line.unallocated and line.status == "booked" else []), None
    errors = list(references.unknown(tx, [Reference("accountId", "bank_account", request.account_id)]))
    if errors:
        raise invalid(*errors)
    before = Position(request.account_id, *map(str, key))
    found = bank_lines.latest_unallocated(tx, before, request.limit + 1)
    lines = found[: request.limit]
    return lines, next_cursor(request, (lines[-1].date, lines[-1].id)) if len(found) > request.limit else None


OPERATIONS = (
    Operation(
        id="banking.listProposals",
        kind="read",
        method="GET",
        path="/allocations/proposals",
        scopes=("accounting:read",),
        request=ListProposals,
        response=Page[ProposedFor],
        handler=list_proposals,
        extension=True,
        example={"accountId": "bac_01k0000000000000000000000m", "limit": 20},
    ),
)
