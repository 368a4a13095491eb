"""Properties: shapes, rows, rules, operations."""
