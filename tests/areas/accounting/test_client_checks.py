"""Numbers of clients: form and check digits by country."""

import pytest

from gatewayd.areas.accounting import client_checks


@pytest.mark.parametrize(
    ("text", "country", "kept"),
    [
        ("GB 980 7806 84", "GB", "980780684"),
        ("980780684", "GB", "980780684"),
        ("gb980780684", "FR", "GB980780684"),
        ("GB980780684", "US", "GB980780684"),
        ("980780684", "IM", "980780684"),
        ("GB980780684", "IM", "980780684"),
        ("123456789", "US", "123456789"),
        ("XI980780684", "GB", "XI980780684"),
        ("GBGD001", "GB", "GD001"),
        ("980780685", "GB", None),
        ("98078068", "GB", None),
        ("DE 136 695 976", "DE", "DE136695976"),
        ("136695976", "DE", "DE136695976"),
        ("DE136695976", "GB", "DE136695976"),
        ("DE136695978", "DE", None),
        ("094259216", "GR", "EL094259216"),
        ("EL094259216", "GR", "EL094259216"),
        ("CHE-123.456.788 MWST", "CH", "CHE123456788MWST"),
        ("?!", "US", None),
        ("٩٨٠٧٨٠٦٨٤", "GB", None),
    ],
)
def test_vat_number(text: str, country: str, kept: str | None) -> None:
    assert client_checks.vat_number(text, country) == kept


@pytest.mark.parametrize(
    ("number", "country", "british"),
    [
        ("980780684", "GB", True),
        ("980780684", "IM", True),
        ("980780684", "US", False),
        ("51824753556", "AU", False),
        ("GB980780684", "FR", True),
        ("XI980780684", "GB", True),
        ("GD001", "GB", True),
        ("DE136695976", "DE", False),
        ("DE136695976", "GB", False),
    ],
)
def test_is_british(number: str, country: str, british: bool) -> None:
    assert client_checks.is_british(number, country) is british


@pytest.mark.parametrize(
    ("text", "country", "kept"),
    [
        ("1234567", "GB", "01234567"),
        ("sc123456", "GB", "SC123456"),
        ("123456789", "GB", None),
        ("S1234567", "GB", None),
        ("²²²²²²²²", "GB", None),
        ("HRB 12345", "DE", "HRB12345"),
        ("*", "DE", None),
    ],
)
def test_company_number(text: str, country: str, kept: str | None) -> None:
    assert client_checks.company_number(text, country) == kept


def test_names_are_compared_folded_with_single_spaces() -> None:
    assert client_checks.folded("  Harbour   STRASSE ") == client_checks.folded("harbour straße")
