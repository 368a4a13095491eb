"""The countries that an address may name, against the table that comes with the time zone database."""

import re
from importlib.resources import files
from itertools import product
from string import ascii_uppercase

import pytest

from gatewayd.contract import countries


def assigned() -> set[str]:
    """ISO 3166-1 alpha-2 codes, by the IANA."""
    lines = (files("tzdata") / "zoneinfo" / "iso3166.tab").read_text("utf-8").splitlines()
    return {line.split("\t")[0] for line in lines if not line.startswith("#")}


def test_they_are_those_that_are_assigned() -> None:
    assert len(countries.COUNTRIES) == 249
    assert assigned() == countries.COUNTRIES


def test_the_pattern_takes_them_and_nothing_else() -> None:
    pairs = {"".join(pair) for pair in product(ascii_uppercase, repeat=2)}
    assert {pair for pair in pairs if re.search(countries.pattern(), pair)} == countries.COUNTRIES


@pytest.mark.parametrize("code", ["UK", "ZZ", "EL", "XI", "EU", "SU", "gb", "GBR", "G", "", " GB", "GB "])
def test_what_is_no_country(code: str) -> None:
    assert re.search(countries.pattern(), code) is None
