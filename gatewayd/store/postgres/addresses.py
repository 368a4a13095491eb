"""How a PostgreSQL is addressed, as it may be told."""

import psycopg
from psycopg.conninfo import conninfo_to_dict

from gatewayd.store.failures import StoreFailure


def parameters(address: str) -> dict[str, str]:
    """What a URL, or libpq's words, say: `host`, `dbname`, `sslmode` and others. Raises `StoreFailure`."""
    try:
        return {name: str(value) for name, value in conninfo_to_dict(address).items() if value is not None}
    except psycopg.Error:  # its words may repeat what stands in it
        raise StoreFailure("store.url is no address of a PostgreSQL, such as postgresql://user@host/database") from None


def described(address: str) -> str:
    """Which database it is, for a sentence: `the PostgreSQL database gatewayd at db.example`. Raises `StoreFailure`."""
    words = parameters(address)
    place = words.get("host") or words.get("hostaddr") or "the usual socket"
    return f"the PostgreSQL database {words.get('dbname') or words.get('user') or 'of this user'} at {place}"
