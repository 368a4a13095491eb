"""The engine that is usual: SQLite through apsw, one file, one machine."""
