"""All rows of a store from SQLite to PostgreSQL and back, counted and compared."""
