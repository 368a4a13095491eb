"""Browsers in words."""

import pytest

from gatewayd.console.people.devices import SHOWN, device_of

SAFARI = (
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18 Safari/605"
)
CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile Safari/604.1"


@pytest.mark.parametrize(
    ("user_agent", "shown"),
    [
        (CHROME, "Chrome on Linux"),
        (CHROME.replace("X11; Linux x86_64", "Windows NT 10.0; Win64; x64") + " Edg/140.0", "Edge on Windows"),
        (CHROME.replace("X11; Linux x86_64", "Linux; Android 15"), "Chrome on Android"),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
        (SAFARI, "Safari on macOS"),
        (PHONE, "Safari on iPhone"),
        ("Firefox", "Firefox"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("x" * 300, "x" * SHOWN),
        ("", "Unknown browser"),
    ],
)
def test_browsers_in_words(user_agent: str, shown: str) -> None:
    assert device_of(user_agent) == shown
