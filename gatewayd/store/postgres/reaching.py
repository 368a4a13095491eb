"""How a command reaches the PostgreSQL that the settings name. It imports psycopg only then: most do without."""

from functools import partial
from typing import TYPE_CHECKING, Final

from gatewayd.store.failures import StoreFailure
from gatewayd.store.settings import StoreSettings

if TYPE_CHECKING:
    from gatewayd.store.postgres.sessions import Connect

COMMAND_SECONDS: Final = 60.0  # Chosen: for one statement of a command


def connect_of(settings: StoreSettings, statement_seconds: float = COMMAND_SECONDS) -> "Connect":
    """What opens a session; its statements may take so long, 0: as long as they do. Raises `StoreFailure`."""
    require_psycopg()
    from gatewayd.store.postgres.connections import address_of, open_connection
    from gatewayd.store.postgres.engine import password_of

    return partial(open_connection, address_of(settings.url, password_of(settings)), statement_seconds)


def name_of(settings: StoreSettings) -> str:
    """Which database has the rows, for a sentence. Raises `StoreFailure`."""
    if not settings.url:
        return str(settings.path)
    require_psycopg()
    from gatewayd.store.postgres.addresses import described

    return described(settings.url)


def require_psycopg() -> None:
    """Raises `StoreFailure` where it is not installed."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise StoreFailure(
            "store.url names a PostgreSQL, and psycopg is not installed: gatewayd[postgresql] has it"
        ) from None
