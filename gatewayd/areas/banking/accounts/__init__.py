"""Bank accounts: shapes, rows, rules, operations."""
