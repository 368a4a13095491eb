"""One Chromium and one daemon for all of these tests; each test has people and cookies of its own."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.chromium import Complaints, chromium, visiting
from tests.browser.place import App, Place, free_port, listening
from tests.daemon.instance import Instance, serving

Visit = Callable[..., tuple[Page, Complaints]]


@pytest.fixture(scope="session")
def authority_port() -> int:
    """Where the browser finds the tax authority's sign-in page: on this machine."""
    return free_port()


@pytest.fixture(scope="session")
def browser(authority_port: int) -> Iterator[Browser]:
    with chromium(f"--host-resolver-rules=MAP www.tax.service.gov.uk:443 127.0.0.1:{authority_port}") as opened:
        yield opened


@pytest.fixture(scope="session")
def place(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    port = free_port()
    url = f"http://localhost:{port}"
    bind, public = f'["127.0.0.1:{port}"]', f'public_url = "{url}"'
    hooks = '[webhooks]\nallow_networks = ["127.0.0.0/8"]\nallow_http = true\nfirst_retry_seconds = 1\n'
    instance = Instance(tmp_path_factory.mktemp("place"), settings=hooks, bind=bind, extra_server=public)
    firm = instance.firm()
    with serving(instance, module="tests.browser.gallery_daemon") as running:
        yield Place(instance, running, url, firm)


@pytest.fixture
def app(place: Place) -> Iterator[App]:
    with listening(place) as opened:
        yield opened


@pytest.fixture
def visit(browser: Browser, place: Place) -> Iterator[Visit]:
    """`visit(**options)`: a page of a browser of its own, and what it complains of."""
    with ExitStack() as opened:

        def open_one(**more: Any) -> tuple[Page, Complaints]:
            return opened.enter_context(visiting(browser, place.url, **more))

        yield open_one
