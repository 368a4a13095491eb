"""Links to documents: shapes, rows, operations."""
