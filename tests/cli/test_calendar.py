"""`gatewayd calendar`: on a store in a file."""

from tests.cli.conftest import Run


def test_an_address_is_made_listed_and_revoked(run: Run, org_id: str) -> None:
    made = run("calendar", "create", "--org", org_id, "--name", "Phone", "--json").document
    assert made["url"].startswith("http://127.0.0.1:8080/calendar/gwd_cal_")
    assert made["createdBy"] == "operator"
    (listed,) = run("calendar", "list", "--org", org_id, "--json").document
    assert (listed["id"], listed["name"], listed["revokedAt"]) == (made["id"], "Phone", None)
    assert run("calendar", "revoke", made["id"], "--json").document["revokedAt"] is not None
    assert made["url"] not in run("calendar", "list", "--org", org_id).out
    again = run("calendar", "revoke", made["id"])
    assert again.code == 1
    assert "revoked already" in again.err


def test_an_entity_that_is_not_there_is_refused(run: Run, org_id: str) -> None:
    refused = run("calendar", "create", "--org", org_id, "--entity", "ent_x")
    assert refused.code == 1
    assert "legalEntityId" in refused.err
