"""A row that is written to find out whether the disk takes it."""

from typing import Final

from gatewayd.store.transactions import WriteTx

LARGE_BYTES: Final = 256 * 1024  # Chosen: with room for this there is room for any request's rows
_UPDATE = "UPDATE write_check SET checked_at = :now, filler = :filler WHERE id = 1"


def write(tx: WriteTx, filler_bytes: int | None) -> None:
    """Write the row with so many bytes beside the time. None: write nothing."""
    if filler_bytes is not None:
        tx.run(_UPDATE, filler=bytes(filler_bytes) or None)
