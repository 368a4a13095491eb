"""What became of an attempt, stored in one transaction: text, facts, pictures, and how it ended."""

import datetime
from itertools import pairwise
from typing import Final, NamedTuple

from msgspec.structs import replace

from gatewayd import events
from gatewayd.areas.vault.documents.rows import DOCUMENTS
from gatewayd.areas.vault.parses import learning, rows, senders, texts, variants
from gatewayd.areas.vault.parses.rows import Failure
from gatewayd.areas.vault.parses.variants import VariantRow
from gatewayd.areas.vault.proposals import rows as proposals
from gatewayd.extraction.shapes import Extraction, Facts
from gatewayd.parsing import metering
from gatewayd.parsing.claims import Claim
from gatewayd.store import ReadTx, WriteTx

SKIPS: Final = frozenset({"empty", "encrypted", "unsupported", "no_ocr"})
"""Why there is nothing to read, however often it is tried."""
PAGES_MAX: Final = 1_000_000
_NONSENSE: Final = Failure("crashed", "What was read makes no sense.", False)


class Outcome(NamedTuple):
    """How an attempt ended: with what was read, or not. `thumbnail`: a picture that was drawn with it, durable."""

    result: Extraction | Failure
    thumbnail: VariantRow | None

    @property
    def word(self) -> str:
        """How it ended, as the row says it."""
        if isinstance(self.result, Extraction):
            return "succeeded"
        return "skipped" if self.result.skipped else "failed"


def checked(extraction: Extraction) -> Extraction | Failure:
    """What a reader said, if it can be: a stranger's file may speak for the process that has read it."""
    numbers = [0, *(page.number for page in extraction.pages)]
    if any(before >= number for before, number in pairwise(numbers)) or numbers[-1] > PAGES_MAX:
        return _NONSENSE
    if extraction.page_count is not None and not 0 <= extraction.page_count <= PAGES_MAX:
        return _NONSENSE
    days = {"date": extraction.facts.date, "due_date": extraction.facts.due_date}
    none = {name: None for name, day in days.items() if day is not None and not _is_date(day)}
    return replace(extraction, facts=replace(extraction.facts, **none)) if none else extraction


def _is_date(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def store(tx: WriteTx, claim: Claim, outcome: Outcome) -> bool:
    """Store how an attempt ended. False: nothing, for the document is gone for good, or was begun again.

    So what a process stores that was stopped for longer than its lease is nothing: who queues a document that was left
    ends the attempt, and the next one has another number.
    """
    result = outcome.result
    if isinstance(result, Failure):
        metering.give_up(tx, claim.held)
        if not rows.fail(tx, claim.document_id, claim.attempt, claim.retries, result):
            return False
        events.append_listened(tx, "document.parse_failed", {"document_id": claim.document_id, "code": result.code})
    elif not _succeed(tx, claim, result):
        return False
    _note_on_document(tx, claim, outcome)
    return True


def _succeed(tx: WriteTx, claim: Claim, extraction: Extraction) -> bool:
    chars = sum(len(page.text) for page in extraction.pages)
    facts, is_ours = settled(tx, extraction.facts)
    about = (extraction.engine, extraction.language, facts, extraction.is_cut)
    if not rows.succeed(tx, claim.document_id, claim.attempt, chars, about):
        return False
    metering.finish(tx, claim.held, claim.document_id, claim.size_bytes, extraction)
    texts.replace(tx, claim.document_id, extraction.pages)
    variants.forget_text(tx, claim.document_id)
    if is_ours:
        proposals.withdraw(tx, claim.document_id)
    else:
        proposals.note(tx, claim.document_id, facts)
    told = {"document_id": claim.document_id, "engine": extraction.engine, "page_count": len(extraction.pages)}
    events.append_listened(tx, "document.parsed", told)
    return True


def settled(tx: ReadTx, facts: Facts) -> tuple[Facts, bool]:
    """The facts by what the organization knows of senders and corrections have told; and whether it is its own.

    What an e-invoice says of itself is right already.
    """
    facts, is_ours = senders.chosen(tx, facts)
    return (facts if is_ours or facts.source == "embedded" else learning.applied(tx, facts)), is_ours


def _note_on_document(tx: WriteTx, claim: Claim, outcome: Outcome) -> None:
    """What the document itself says of what was found.

    Chosen: a date and a picture that somebody has set stay, and its version too: who has just confirmed an upload may
    still change it with the version that was answered.
    """
    before = DOCUMENTS.get(tx, claim.document_id)
    after = before
    if isinstance(outcome.result, Extraction):
        date = before.document_date or rows.facts_of(tx, claim.document_id).date
        after = replace(after, page_count=outcome.result.page_count, document_date=date)
    if (picture := outcome.thumbnail) is not None:
        variants.put(tx, before.id, picture)
        if before.thumbnail_url is None:
            address = variants.new_address(before.id, picture.page, picture.width)
            after = replace(after, thumbnail_url=address)
    DOCUMENTS.save(tx, after)  # who follows changes learns how the attempt ended, which stands in the document
