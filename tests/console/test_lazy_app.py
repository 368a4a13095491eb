"""The pages as the daemon has them: made when the first is asked for, and only on their own paths."""

import subprocess
import sys
from pathlib import Path

import pytest
import trio

from gatewayd.areas.vault.documents.uploads import Settings
from gatewayd.clock import SettableClock
from gatewayd.console.addresses import is_page
from gatewayd.console.daemon_parts import DaemonParts
from gatewayd.console.lazy_app import Console
from gatewayd.identity.sign_in.throttling import Limits
from gatewayd.performing.admission import Gate
from gatewayd.performing.file_places import FilePlaces
from gatewayd.performing.performer import Performer
from gatewayd.performing.rate_limits import RateLimits
from gatewayd.store.database import open_store
from gatewayd.store.files.at_place import blobs_at, partials_at
from gatewayd.store.settings import DATABASE_NAME, StoreSettings
from gatewayd.tax.settings import TaxSettings
from gatewayd.vault_files.receiving import Receiving
from tests.console.instances import Told
from tests.console.visiting import SECONDS, Written
from tests.contract.rows import OPERATIONS
from tests.support.rows import CATALOGUE
from tests.support.scopes import request_of, scope_of
from tests.support.store import START

PAGES = ["/", "/sign-in", "/sign-in/code", "/sign-out", "/account", "/account/password", "/oauth/choose"]
PAGES += ["/oauth/consent", "/developers/apps", "/static/style.css", "/account//x", "/sign-in/"]
PAGES += ["/docs", "/developers/tax", "/developers/tax/connected", "/admin", "/admin/tax"]


@pytest.mark.parametrize("path", PAGES)
def test_pages(path: str) -> None:
    assert is_page(path)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "//",
        "//sign-in",
        "*",
        "/accounting/invoices",
        "/api/auth/oauth2/token",
        "/oauth2",
        "/healthz",
        "/x/sign-in",
        "/tax",
        "/administrator",
    ],
)
def test_no_pages(path: str) -> None:
    assert not is_page(path)


def test_no_operation_has_the_path_of_a_page() -> None:
    for row in OPERATIONS:
        assert not is_page(row.path)
        assert not is_page(row.path.removeprefix("/api/rpc"))


def test_the_daemon_is_ready_without_what_the_pages_need() -> None:
    heavy = {"quart", "quart_trio", "jinja2", "webauthn", "pyotp", "segno"}
    code = f"import sys, gatewayd.daemon.daemon; print(sorted({heavy} & {{*sys.modules}}))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.strip() == "[]"


async def test_many_first_visitors_at_once_find_one_application(database_image: bytes, tmp_path: Path) -> None:
    (tmp_path / DATABASE_NAME).write_bytes(database_image)
    clock, log = SettableClock(START), Written()
    statuses: list[int] = []
    async with open_store(StoreSettings(directory=tmp_path), clock) as store:
        given = DaemonParts(
            store=store,
            clock=clock,
            log=log,
            issuer="http://127.0.0.1:8080",
            tax=TaxSettings(),
            operations=CATALOGUE.operations,
            performer=Performer(store),
            gate=Gate(RateLimits(0, 100)),
            instance=Told(store).daemon,
            file_places=FilePlaces(folder=tmp_path),
            receiving=Receiving(store, blobs_at(store.place), partials_at(store.place), Settings("", 0)),
        )
        console = Console(given, limits=Limits(3))

        async def visit() -> None:
            statuses.append(await status_of(console, "/sign-in"))

        with trio.fail_after(SECONDS):
            async with trio.open_nursery() as nursery:
                for _ in range(5):
                    nursery.start_soon(visit)
    assert statuses == [200] * 5
    assert log.errors == []


async def status_of(console: Console, path: str) -> int:
    """One request without a body."""
    statuses: list[int] = []
    scope = scope_of(request_of("GET", path, headers=[(b"host", b"127.0.0.1:8080")]))
    given = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> dict[str, object]:
        message = next(given, None)
        if message is None:
            await trio.sleep_forever()
        assert message is not None
        return message

    async def send(message: dict[str, object]) -> None:
        await trio.lowlevel.checkpoint()
        if message["type"] == "http.response.start":
            statuses.append(int(str(message["status"])))

    await console(scope, receive, send)
    return statuses[0]
