"""Import runs: what a statement file became, row by row."""
