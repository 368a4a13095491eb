"""Tells of a mail about an invoice or a quote that did not reach the client, in the transaction that records it."""

from typing import Final, Literal

from gatewayd import events
from gatewayd.store import WriteTx

_KINDS: Final = {
    "invoice": ("invoice.mail_failed", "invoice_id"),
    "invoice_reminder": ("invoice.mail_failed", "invoice_id"),
    "quote": ("quote.mail_failed", "quote_id"),
}
"""Which event is told of which kind of mail, and what its paper is called there."""

_SELECT_ANY_ORG = "SELECT org_id, kind, about, attempts, last_code FROM mails WHERE id = :id"


def tell(tx: WriteTx, mail_id: str, status: Literal["failed", "bounced"]) -> None:
    """Tell of a mail that was given up just now; of what is not about a paper, nothing.

    Binds the transaction to the organization of the mail. Chosen: neither the address nor the words of the server,
    which repeat it; `accounting.getSending` has both.
    """
    row = tx.row(_SELECT_ANY_ORG, id=mail_id)
    if row is None:
        return
    org_id, kind, about, attempts, code = row
    if org_id is None or about is None or kind not in _KINDS:
        return
    event, name = _KINDS[kind]
    data = {name: about, "mail_id": mail_id, "status": status, "attempts": attempts, "code": code}
    if name == "invoice_id":
        data["reminder"] = kind == "invoice_reminder"
    tx.bind(org_id)
    events.append(tx, event, data)
