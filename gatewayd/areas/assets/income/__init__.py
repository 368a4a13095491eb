"""Income events: shapes, rules, rows, sums by tax year, totals, operations."""
