"""The same rows on a PostgreSQL."""
