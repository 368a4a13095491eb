"""What a browser says it is, in words: for people to tell their own browsers apart, and nothing is decided by it."""

import re
from typing import Final

_BROWSERS: Final = (  # those that name others as well come before them
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
)
_SYSTEMS: Final = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)
SHOWN: Final = 60  # characters of what is none of these


def device_of(user_agent: str) -> str:
    """`Firefox on Linux`; for a program the beginning of what it calls itself."""
    browser = _first(_BROWSERS, user_agent)
    if browser is None:
        return user_agent[:SHOWN] or "Unknown browser"
    system = _first(_SYSTEMS, user_agent)
    return browser if system is None else f"{browser} on {system}"


def _first(names: tuple[tuple[str, str], ...], user_agent: str) -> str | None:
    return next((shown for name, shown in names if re.search(name, user_agent)), None)
