"""Income events: shapes, rules, rows, operations."""
