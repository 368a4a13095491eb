"""Bank statement files, read into rows: OFX, QIF, CAMT.053, MT940 and CSV (Domain E). Pure: no store and no network."""

from typing import Final

from gatewayd.isolation.starting import Entry

ENTRY: Final = Entry("read-statement", "gatewayd.statements.worker")
