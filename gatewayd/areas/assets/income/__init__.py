"""Income events: shapes, rules, rows, totals, operations."""
