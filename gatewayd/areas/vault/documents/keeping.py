"""Until when a document has to be kept: `archiveUntilDate`.

Chosen: it does where it belongs to the books, by a link to a business, an invoice or a bank transaction, from its own
date on or, where nobody said one, from the day that it came. It may go into the trash all the same, and stays there.
"""

import datetime
from collections.abc import Iterable
from typing import Final

from gatewayd.areas.vault.documents.shapes import DocumentLink
from gatewayd.clock import Instant, london_date
from gatewayd.contract.wire import DateText
from gatewayd.ledger import retention
from gatewayd.store import ReadTx

OF_THE_BOOKS: Final = frozenset({"bank_transaction", "business", "invoice"})


def archive_until(
    tx: ReadTx, links: Iterable[DocumentLink], document_date: str | None, created_at: Instant
) -> DateText | None:
    """The last day, as the organization's entities are now; None: it need not be kept."""
    if OF_THE_BOOKS.isdisjoint(link.type for link in links):
        return None
    day = datetime.date.fromisoformat(document_date or london_date(created_at))
    last = retention.keep_until(tx, day)
    return None if last is None else DateText(last.isoformat())
