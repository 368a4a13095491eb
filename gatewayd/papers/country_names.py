"""The names of countries, as addresses abroad are printed."""

from importlib import resources
from typing import Final

_KINGDOM: Final = "United Kingdom"  # which the list calls Britain


def country_names() -> dict[str, str]:
    """Those that the list of time zones has, by their ISO codes."""
    listed = resources.files("tzdata.zoneinfo").joinpath("iso3166.tab").read_text("utf-8")
    lines = (line.split("\t") for line in listed.splitlines() if line and not line.startswith("#"))
    return {line[0]: line[1] for line in lines} | {"GB": _KINGDOM}
