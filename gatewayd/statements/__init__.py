"""Bank statement files, read into rows: OFX, QIF, CAMT.053, MT940 and CSV (Domain E). Pure: no store and no network."""

from typing import Final

ENTRY: Final = "read-statement"
"""The first argument that makes a program of one file, which has no interpreter beside it, the child that reads."""
