"""Whose taxes an upstream has, and where people sign in, by what the settings say of it."""

import pytest

from gatewayd.tax.settings import PRODUCTION, TEST, TaxSettings

STUB = "http://127.0.0.1:8082"
OWN = "https://tax.example/hmrc"


@pytest.mark.parametrize(
    ("upstream", "told", "sandbox", "production", "page"),
    [
        (PRODUCTION, False, False, True, "https://www.tax.service.gov.uk/oauth/authorize"),
        (PRODUCTION, True, False, True, "https://www.tax.service.gov.uk/oauth/authorize"),
        (TEST, False, True, False, "https://test-www.tax.service.gov.uk/oauth/authorize"),
        (TEST, True, True, False, "https://test-www.tax.service.gov.uk/oauth/authorize"),
        (OWN, False, False, False, "https://www.tax.service.gov.uk/oauth/authorize"),
        (OWN, True, True, False, f"{OWN}/oauth/authorize"),
        (STUB, False, False, False, "https://www.tax.service.gov.uk/oauth/authorize"),
        (STUB, True, True, False, f"{STUB}/oauth/authorize"),
    ],
)
def test_what_an_upstream_is(upstream: str, told: bool, sandbox: bool, production: bool, page: str) -> None:
    """Nobody can make a sandbox of the authority itself."""
    settings = TaxSettings(mode="hmrc", upstream=upstream, upstream_is_sandbox=told)
    assert (settings.is_sandbox, settings.is_production, settings.sign_in_page) == (sandbox, production, page)


def test_the_sandbox_of_this_process_is_one() -> None:
    settings = TaxSettings(mode="sandbox")
    assert (settings.is_sandbox, settings.is_production, settings.connects) == (True, False, False)
