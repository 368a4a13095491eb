"""What is derived from a row, and who a caller is."""

import dataclasses

import pytest

from gatewayd.contract.caller import Role
from gatewayd.contract.operation import Method
from tests.contract_rules.rows import row
from tests.support.store import make_caller


def test_a_row_says_its_area_alias_and_parameters() -> None:
    assert row().area == "things"
    assert row().alias == "/things/getThing"
    assert row().parameters == ("id", "partId")


@pytest.mark.parametrize(("method", "expected"), [("GET", False), ("POST", True), ("PATCH", True), ("DELETE", False)])
def test_post_and_patch_have_a_body(method: Method, expected: bool) -> None:
    assert dataclasses.replace(row(), method=method).has_body is expected


@pytest.mark.parametrize(("role", "expected"), [("owner", True), ("admin", True), ("member", False)])
def test_members_are_no_administrators(role: Role, expected: bool) -> None:
    assert make_caller("org_1", role=role).is_admin is expected


def test_what_was_made_without_a_user_refers_to_the_credential() -> None:
    assert make_caller("org_1", user_id="usr_1").reference == "usr_1"
    assert make_caller("org_1", user_id=None).reference == "key_00000000000000000000000000"
