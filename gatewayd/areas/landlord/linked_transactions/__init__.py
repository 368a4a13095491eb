"""Money that is linked to what is let: shapes, operations."""
