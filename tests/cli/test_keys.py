"""`gatewayd key`."""

from pathlib import Path

import pytest

from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.contract.holding import Held
from gatewayd.contract.scopes import FULL_ACCESS, KEY_SCOPES
from gatewayd.errors import Problem
from gatewayd.identity.keys import key_uses
from gatewayd.identity.keys.key_uses import KeyUse
from gatewayd.identity.tokens.authentication import ApiKeyVerifier, Authenticator
from gatewayd.store import WriteTx
from tests.cli.conftest import CommandResult, Run
from tests.cli.store_reading import read_store, write_store
from tests.support.store import make_caller


@pytest.fixture
def create(run: Run, org_id: str, email: str) -> Run:
    """`create("--scope", "vault:read")`."""

    def create_key(*arguments: str) -> CommandResult:
        return run("key", "create", "--org", org_id, "--user", email, "--name", "CI", *arguments)

    return create_key


def scopes_of(config_file: Path, key: str, peer: str | None = None) -> frozenset[str]:
    authenticator = Authenticator((ApiKeyVerifier(),))
    return read_store(config_file, lambda tx: authenticator.authenticate(tx, key, peer).scopes)


def test_a_made_key_opens_what_was_chosen(create: Run, config_file: Path) -> None:
    ran = create("--scope", "webhooks:read", "--scope", "accounting:read", "--json")
    assert set(ran.document) == {"id", "key", "scopes"}
    assert ran.document["scopes"] == ["accounting:read", "webhooks:read"]
    assert scopes_of(config_file, ran.document["key"]) == {"accounting:read", "webhooks:read"}
    assert ran.err == ""


def test_a_key_without_scopes_is_called_legacy_loudly(create: Run, run: Run, config_file: Path) -> None:
    ran = create()
    assert scopes_of(config_file, ran.document["key"]) == FULL_ACCESS
    assert "legacy" in ran.err
    assert "LEGACY FULL ACCESS" in run("key", "list").out


def test_tax_scopes_wait_for_approval_and_that_is_said(create: Run, config_file: Path) -> None:
    ran = create("--scope", "tax:read")
    assert ran.document["scopes"] == ["tax:read"]
    assert scopes_of(config_file, ran.document["key"]) == frozenset()
    assert "approves" in ran.err


@pytest.mark.parametrize("scope", ["everything", "openid", "offline_access", ""])
def test_an_unknown_scope_is_wrong_usage_with_the_list(create: Run, run: Run, scope: str) -> None:
    ran = create("--scope", scope)
    assert (ran.code, ran.out) == (2, "")
    assert all(known in ran.err for known in KEY_SCOPES)
    assert run("key", "list", "--json").document == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("--network", "home"),
        ("--network", "10.0.0.1/8"),
        ("--expires-days", "0"),
        ("--expires-days", "soon"),
        ("--expires-days", "3651"),
    ],
)
def test_wrong_values_are_wrong_usage(create: Run, arguments: tuple[str, str]) -> None:
    ran = create(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert arguments[1] in ran.err


def test_an_unknown_organization_or_user_fails(run: Run, org_id: str, email: str) -> None:
    no_org = run("key", "create", "--org", "org_none", "--user", email, "--name", "CI")
    nobody = run("key", "create", "--org", org_id, "--user", "bob@example.com", "--name", "CI")
    assert (no_org.code, no_org.err) == (1, "gatewayd: There is no such organization.\n")
    assert (nobody.code, nobody.err) == (1, "gatewayd: there is no user with the address bob@example.com\n")


def test_the_creator_must_be_a_member(run: Run, email: str) -> None:
    beta = run("org", "create", "--name", "Beta").document["id"]
    ran = run("key", "create", "--org", beta, "--user", email, "--name", "CI")
    assert (ran.code, "no member" in ran.err) == (1, True)


def test_lists_never_show_a_key(create: Run, run: Run, org_id: str) -> None:
    made = create("--network", "10.0.0.0/8", "--expires-days", "30").document
    as_json, as_text = run("key", "list", "--json"), run("key", "list", "--org", org_id)
    (listed,) = as_json.document
    assert (listed["id"], listed["orgId"], listed["networks"]) == (made["id"], org_id, ["10.0.0.0/8"])
    assert listed["expiresAt"] > listed["createdAt"]
    assert made["key"] not in as_json.out + as_text.out
    assert made["id"] in as_text.out
    assert run("key", "list", "--org", "org_none").code == 1


def test_a_revoked_key_is_refused(create: Run, run: Run, config_file: Path) -> None:
    made = create().document
    assert run("key", "revoke", made["id"]).document["id"] == made["id"]
    with pytest.raises(Problem, match="revoked"):
        scopes_of(config_file, made["key"])
    unknown = run("key", "revoke", "key_none")
    assert (unknown.code, unknown.err) == (1, "gatewayd: There is no such API key.\n")


def test_rotates_with_and_without_overlap(create: Run, run: Run, config_file: Path) -> None:
    first = create("--scope", "vault:read").document
    second = run("key", "rotate", first["id"], "--json").document
    assert set(second) == {"id", "key", "scopes"}
    assert scopes_of(config_file, first["key"]) == scopes_of(config_file, second["key"]) == {"vault:read"}
    third = run("key", "rotate", second["id"], "--overlap-hours", "0").document
    with pytest.raises(Problem, match="expired"):
        scopes_of(config_file, second["key"])
    assert scopes_of(config_file, third["key"]) == {"vault:read"}
    again = run("key", "rotate", first["id"])
    assert (again.code, second["id"] in again.err) == (1, True)


def test_a_key_of_the_organization_outlives_the_member(create: Run, run: Run, config_file: Path) -> None:
    made = create("--scope", "vault:read", "--role", "member").document
    mine = create("--scope", "vault:read").document
    roles = {key["id"]: key["role"] for key in run("key", "list", "--json").document}
    assert roles == {made["id"]: "member", mine["id"]: None}
    listed = run("key", "list").out.splitlines()
    assert [line for line in listed if made["id"] in line and "organization (member)" in line]
    assert [line for line in listed if mine["id"] in line and "its maker" in line]
    assert create("--role", "owner").code == 2
    assert create("--role", "admin").code == 1  # without scopes


def test_a_key_is_held_to_legal_entities_and_days(create: Run, run: Run, config_file: Path, org_id: str) -> None:
    wanted = CreateLegalEntity(name="Ann Oak", type="individual")

    def add(tx: WriteTx) -> str:
        tx.bind(org_id)
        return create_legal_entity(tx, make_caller(org_id), wanted).id

    ann = write_store(config_file, add)
    ran = create("--scope", "accounting:read", "--legal-entity", ann, "--from", "2026-04-06", "--to", "2027-04-05")
    authenticator = Authenticator((ApiKeyVerifier(),))
    key = ran.document["key"]
    held = read_store(config_file, lambda tx: authenticator.authenticate(tx, key, None).held)
    assert held == Held(entities=frozenset({ann}), first="2026-04-06", last="2027-04-05")
    listed = run("key", "list", "--json").document[0]
    assert (listed["heldEntities"], listed["heldFrom"], listed["heldTo"]) == ([ann], "2026-04-06", "2027-04-05")
    assert f"{ann} from 2026-04-06 to 2027-04-05" in run("key", "list").out


@pytest.mark.parametrize("option", ["--legal-entity", "--from", "--to"])
def test_what_a_key_is_held_to_has_to_be_there(create: Run, run: Run, option: str) -> None:
    assert create("--scope", "accounting:read", option, "2026-02-30").code != 0
    assert run("key", "list", "--json").document == []


def test_a_key_that_is_held_to_days_reads_alone(create: Run) -> None:
    ran = create("--scope", "accounting:write", "--from", "2026-04-06")
    assert (ran.code, "reads alone" in ran.err) == (1, True)


def test_what_a_key_was_used_for_is_listed(create: Run, run: Run, config_file: Path) -> None:
    made = create("--scope", "vault:read").document
    assert run("key", "uses", made["id"], "--json").document == []
    counts = {KeyUse(made["id"], "vault.listDocuments"): 3}
    write_store(config_file, lambda tx: key_uses.add(tx, counts))
    (use,) = run("key", "uses", made["id"], "--json").document
    assert (use["operation"], use["times"], use["days"]) == ("vault.listDocuments", 3, 1)
    assert "vault.listDocuments" in run("key", "uses", made["id"]).out
    assert run("key", "uses", "key_none").code == 1
