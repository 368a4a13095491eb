"""Bank statement files, read into rows: OFX, QIF, CAMT.053, MT940 and CSV (Domain E). Pure: no store and no network."""
