"""Bytes as people read them."""

from typing import Final

_UNITS: Final = ("B", "kB", "MB", "GB", "TB")


def in_units(size_bytes: int) -> str:
    """`12.3 MB`, in thousands."""
    size, unit = float(size_bytes), 0
    while size >= 1_000 and unit + 1 < len(_UNITS):
        size, unit = size / 1_000, unit + 1
    return f"{size:.1f} {_UNITS[unit]}" if unit else f"{size_bytes} B"
