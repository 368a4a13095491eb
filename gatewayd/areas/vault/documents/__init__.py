"""Documents: shapes, rows, rules, operations."""
