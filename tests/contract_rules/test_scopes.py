"""The closed set of scopes (Spec §5) and what the narrower ones open."""

import pytest

from gatewayd.contract.scopes import (
    ALL_SCOPES,
    EXTENSION_SCOPES,
    FULL_ACCESS,
    KEY_SCOPES,
    RESTRICTED,
    SCOPES,
    SIGN_IN_ONLY,
    described,
    meaning,
    narrower,
)

_SPEC = (
    "openid offline_access entities:read entities:write accounting:read accounting:write banking:read vault:read "
    "vault:write billing:read periods:read webhooks:read webhooks:write tax:read tax:write"
)


def test_the_scopes_of_the_spec_are_all_there() -> None:
    assert set(SCOPES) == set(_SPEC.split())
    assert not set(SCOPES) & set(EXTENSION_SCOPES)


def test_a_key_carries_no_scope_of_sign_in_and_full_access_no_restricted_one() -> None:
    assert not KEY_SCOPES & SIGN_IN_ONLY
    assert set(ALL_SCOPES) == KEY_SCOPES | SIGN_IN_ONLY
    assert FULL_ACCESS | RESTRICTED == KEY_SCOPES
    assert not FULL_ACCESS & RESTRICTED


@pytest.mark.parametrize(
    ("area", "scope", "expected"),
    [
        ("landlord", "accounting:read", "landlord:read"),
        ("assets", "accounting:write", "assets:write"),
        ("accounting", "accounting:read", None),
        ("landlord", "entities:read", None),
        ("landlord", "tax:write", None),  # a narrower scope never opens a restricted one
        ("tax", "tax:read", None),
        ("crm", "accounting:read", None),
        ("landlord", "openid", None),
    ],
)
def test_narrower_scopes(area: str, scope: str, expected: str | None) -> None:
    assert narrower(area, scope) == expected


def test_the_description_names_the_narrower_scopes() -> None:
    told = described()
    assert told["accounting:read"].startswith(SCOPES["accounting:read"])
    assert "guarantors" in told["accounting:read"]
    assert told["accounting:read"].endswith("A part of it alone: `assets:read`, `landlord:read`.")
    assert told["accounting:write"].endswith("A part of it alone: `assets:write`, `landlord:write`.")
    assert told["openid"] == SCOPES["openid"]
    assert told.keys() == ALL_SCOPES.keys()


def test_a_scope_of_another_version_stands_for_itself() -> None:
    assert meaning("ledger:read") == "ledger:read"
