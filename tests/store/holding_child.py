"""A process that takes the write lock, says so, and keeps it until its input ends. Argument: directory."""

import sys
from pathlib import Path

from gatewayd.store.settings import DATABASE_NAME
from gatewayd.store.sqlite import connections


def main(directory: str) -> None:
    connection = connections.open_writer(Path(directory) / DATABASE_NAME, 5)
    connection.execute("BEGIN IMMEDIATE")
    print("held", flush=True)
    sys.stdin.read()
    connection.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
