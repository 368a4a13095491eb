"""How many requests a second one fsync for each would allow: SQLite, one insert and one durable commit at a time."""

import sqlite3
import time
from pathlib import Path

_ROW = b"x" * 2000  # about an invoice with two lines


def commits_per_second(path: Path, seconds: float) -> float:
    """The rate over `seconds`, on the disk that holds `path`, with WAL and synchronous=FULL."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, body BLOB NOT NULL)")
        began, commits = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO rows (body) VALUES (?)", (_ROW,))
            connection.execute("COMMIT")
            commits += 1
        return commits / (time.perf_counter() - began)
    finally:
        connection.close()
