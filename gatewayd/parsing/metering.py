"""What reading a document costs: by page and by megabyte, which is known when it was read (Domain B8)."""

from collections.abc import Mapping
from typing import Final

from gatewayd.areas.vault.parses.rows import Failure
from gatewayd.clock import HOUR, Instant
from gatewayd.errors import Problem
from gatewayd.extraction.shapes import Extraction
from gatewayd.ledger.credits import charging
from gatewayd.ledger.credits.charging import HeldWork, Work
from gatewayd.ledger.credits.shapes import Subject, Unit
from gatewayd.store import WriteTx

OPERATION: Final = "vault.parse"
PAGES_MAX: Final = 1000  # of which the most is held: so many are read
HELD_FOR: Final = 2 * HOUR  # Chosen: longer than any document may take
PRICED: Final[Mapping[str, tuple[Unit, ...]]] = {OPERATION: ("page", "mb")}
"""What the engine charges for, and by which units."""
_MEGABYTE: Final = 1_000_000
NO_CREDITS: Final = Failure("insufficient_credits", "Too few credits are left to read it.", False)


def begin(tx: WriteTx, document_id: str, attempt: int, size_bytes: int) -> HeldWork | None:
    """Hold what an attempt may cost; None: too few credits are left for a page of it."""
    megabytes = -(-size_bytes // _MEGABYTE)
    work = Work(
        operation=OPERATION,
        operation_id=f"{document_id}:{attempt}",
        least={"page": 1, "mb": megabytes},
        most={"page": PAGES_MAX, "mb": megabytes},
    )
    try:
        return charging.begin(tx, work, Instant(tx.now + HELD_FOR))
    except Problem:
        return None


def finish(tx: WriteTx, held: HeldWork, document_id: str, size_bytes: int, extraction: Extraction) -> None:
    """Charge what a document came to. One without pages is one."""
    done: dict[Unit, int] = {"page": max(1, len(extraction.pages)), "mb": -(-size_bytes // _MEGABYTE)}
    charging.finish(tx, held, done, Subject(type="document", id=document_id))


def give_up(tx: WriteTx, held: HeldWork) -> None:
    """What could not be read costs nothing."""
    charging.give_up(tx, held)
