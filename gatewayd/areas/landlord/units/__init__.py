"""Units of properties: shapes, rows, rules, operations."""
