"""A session for a command that asks a PostgreSQL itself, beside the store."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Final

import psycopg

from gatewayd.store.failures import StoreFailure
from gatewayd.store.postgres.connections import Connection
from gatewayd.store.postgres.failures import reason

ENDING_SECONDS: Final = 1.0  # Chosen: the server ends a session a moment after its client did
_ASK_AGAIN_SECONDS: Final = 0.05
Connect = Callable[[], Connection]
"""Opens a session with the server that takes writes. Raises `StoreFailure`."""

_OTHERS: Final = """
SELECT DISTINCT coalesce(host(client_addr), 'its own machine') AS place FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'gatewayd%'
ORDER BY place
"""


@contextlib.contextmanager
def session(connect: Connect, what: str) -> Iterator[Connection]:
    """A session until the end of the block. Raises `StoreFailure`, which begins with `what` could not be done."""
    connection = connect()
    try:
        yield connection
    except psycopg.Error as error:
        raise StoreFailure(f"{what}: {reason(error)}") from error
    finally:
        with contextlib.suppress(psycopg.Error):
            connection.close()


def refuse_beside_others(connection: Connection, what: str) -> None:
    """Raises `StoreFailure` where another process of gatewayd is connected to the database, from whichever host.

    One that is not connected at this moment is not seen: it finds out when it next connects.
    """
    deadline = time.monotonic() + ENDING_SECONDS
    while places := [str(place) for (place,) in connection.execute(_OTHERS)]:
        if time.monotonic() < deadline:
            time.sleep(_ASK_AGAIN_SECONDS)
            continue
        raise StoreFailure(
            f"{what} works beside no daemon, and from {', '.join(places)} gatewayd is connected to the database: stop"
            " the daemons of all hosts first"
        )
