"""`gatewayd client add` and its neighbours."""

import json
from pathlib import Path
from typing import Any

import pytest
from joserfc.jwk import ECKey

from gatewayd.cli.context import Context
from gatewayd.clock import SystemClock
from gatewayd.identity.clients import client_secrets
from tests.cli.conftest import Run

CALLBACK = "https://till.example/callback"
ADD = ("client", "add", "Till", "--redirect-uri", CALLBACK)

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def context(config_file: Path) -> Context:
    return Context(str(config_file), {}, SystemClock())


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"keys": [ECKey.generate_key().as_dict(private=False)]}))
    return path


def added(run: Run, *arguments: str) -> dict[str, Any]:
    document: dict[str, Any] = run(*ADD, *arguments, "--json").document
    return document


def test_one_with_a_secret_shows_it_once(run: Run, context: Context) -> None:
    made = added(run, "--confidential", "--scope", "accounting:read", "--scope", "crm:read")
    secret = made.pop("secret")
    assert made == {
        "id": made["id"],
        "name": "Till",
        "redirectUris": [CALLBACK],
        "authentication": "client_secret_basic",
        "scopes": ["accounting:read", "crm:read"],
    }
    assert context.read(lambda tx: client_secrets.matches(tx, made["id"], secret))
    listed = run("client", "list", "--json")
    assert secret not in listed.out
    (client,) = listed.document
    assert (client["id"], client["registeredBy"]) == (made["id"], "operator")
    assert client["authentication"] == "client_secret_basic"
    assert run("client", "list").out.splitlines()[1].split("\t")[-1] == "yours"


def test_one_without_anything_is_public(run: Run) -> None:
    made = added(run, "--post-logout-redirect-uri", "https://till.example/bye")
    assert ("secret" in made, made["authentication"], made["scopes"]) == (False, "none", [])


def test_a_secret_is_rotated_with_an_overlap(run: Run, context: Context) -> None:
    made = added(run, "--confidential")
    second = run("client", "rotate-secret", made["id"], "--json").document["secret"]
    third = run("client", "rotate-secret", made["id"], "--overlap-hours", "0", "--json").document["secret"]
    live = [context.read(lambda tx: client_secrets.matches(tx, made["id"], each)) for each in (made["secret"], second)]  # noqa: B023
    assert live == [False, False]
    assert context.read(lambda tx: client_secrets.matches(tx, made["id"], third))
    public = added(run)
    refused = run("client", "rotate-secret", public["id"])
    assert (refused.code, refused.out) == (1, "")
    assert "no secret" in refused.err


def test_one_has_keys_of_its_own(run: Run, keys: Path, tmp_path: Path) -> None:
    made = added(run, "--keys", str(keys))
    assert (made["authentication"], "secret" in made) == ("private_key_jwt", False)
    changed = run("client", "set-keys", made["id"], str(keys), "--json").document
    assert changed == {"id": made["id"], "keys": 1}
    (tmp_path / "none.json").write_text("[]")
    for wrong in (tmp_path / "none.json", tmp_path / "missing.json"):
        assert run(*ADD, "--keys", str(wrong)).code == 1
    (tmp_path / "secret.json").write_text(json.dumps({"keys": [ECKey.generate_key().as_dict(private=True)]}))
    refused = run(*ADD, "--keys", str(tmp_path / "secret.json"))
    assert (refused.code, "public key" in refused.err) == (1, True)


def test_removing_one(run: Run) -> None:
    made = added(run, "--confidential")
    removed = run("client", "remove", made["id"], "--json").document
    assert removed == {"id": made["id"], "removed": True, "grantsEnded": 0}
    assert run("client", "rotate-secret", made["id"]).code == 1
    assert run("client", "remove", "app_x").code == 1
    actions = [json.loads(line)["action"] for line in run("audit", "--action", "client.", "--json").out.splitlines()]
    assert actions == ["client.revoked", "client.registered"]


def test_both_kinds_at_once_are_wrong_usage(run: Run, keys: Path) -> None:
    assert run(*ADD, "--confidential", "--keys", str(keys)).code == 2
    assert run("client", "add", "Till").code == 2
    wrong = run("client", "add", "Till", "--redirect-uri", "ftp://till.example/")
    assert (wrong.code, "redirect" in wrong.err) == (1, True)
