"""Debian's Chromium, driven from beside the daemon; what its console complains of fails the test."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    ViewportSize,
    expect,
    sync_playwright,
)

MILLISECONDS = 120_000.0  # the longest that anything here waits; nothing is measured with it
PHONE, DESK = ViewportSize(width=360, height=740), ViewportSize(width=1280, height=800)
TABLET = ViewportSize(width=768, height=1024)


@contextmanager
def chromium(*more: str) -> Iterator[Browser]:
    """The browser, with more arguments. Skips the test where there is none; `.ci/run` installs it."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("chromium is not installed")
    arguments = ["--disable-gpu", "--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    arguments += more
    expect.set_options(timeout=MILLISECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments, timeout=MILLISECONDS)
        yield browser
        browser.close()


@dataclass
class Complaints:
    """What the browser's console said. Answers of 4xx are said there too: a test takes those it meant to get."""

    said: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.said.append(str(error)))

    def took(self, status: int) -> None:
        """An answer with this status was meant."""
        meant = [each for each in self.said if f"status of {status}" in each]
        assert meant, self.said
        self.said.remove(meant[0])

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.said.append(message.text)


@contextmanager
def visiting(browser: Browser, url: str, **more: Any) -> Iterator[tuple[Page, Complaints]]:
    """A browser of its own, without cookies; at the end nothing may have been complained of."""
    complaints = Complaints()
    # Still: what is looked at in the midst of a transition has colours that nobody chose.
    options = {"reduced_motion": "reduce", **more}
    context: BrowserContext = browser.new_context(base_url=url, **options)
    context.set_default_timeout(MILLISECONDS)
    context.on("page", complaints.watch)
    try:
        yield context.new_page(), complaints
    finally:
        context.close()
    assert complaints.said == []
