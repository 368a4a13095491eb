"""Bank transactions: shapes, rows, pages, operations."""
