"""Whose grant a call is made over: an owner signs in for a company and for themselves, an agent for all clients."""

from typing import Any

import pytest
import trio

from gatewayd.tax.connections import connections
from gatewayd.tax.connections.connections import Tokens
from tests.tax.conftest import OBLIGATIONS, OpenTax, TaxApi
from tests.tax.recording import Upstream, upstream

SECONDS = 60.0
VRN, NINO = "980780684", "AA123456A"
STATUS = "/api/rpc/tax/itsaStatus/get"


async def entity(tax: TaxApi, values: dict[str, Any], **more: Any) -> str:
    made = await tax.api("POST", "/legalEntity/createLegalEntity", json=values, **more)
    assert made.status == 200, made.body
    return str(made.json()["id"])


async def company(tax: TaxApi) -> str:
    oak = {"name": "Oak Ltd", "type": "limited_company", "companyNumber": "01234567", "vatNumber": VRN}
    return await entity(tax, oak)


async def person(tax: TaxApi) -> str:
    return await entity(tax, {"name": "Ann Oak", "type": "individual", "nino": NINO})


async def grant(tax: TaxApi, access: str, legal_entity_id: str | None = None) -> None:
    tokens = Tokens(access, None, "", None)
    await tax.api.store.write(lambda tx: connections.save(tx, tokens, "operator", legal_entity_id), "org_a")


def bearers(server: Upstream) -> list[str]:
    """Of each request, in turn."""
    return [request.values("authorization")[0].decode().removeprefix("Bearer ") for request in server.requests]


async def test_a_company_and_a_person_bear_tokens_of_their_own(open_tax: OpenTax) -> None:
    """However they are named: by id, by number, or by being the only ones that are asked about."""
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="hmrc", upstream=server.url) as tax:
            oak, ann = await company(tax), await person(tax)
            await grant(tax, "of-the-company", oak)
            await grant(tax, "of-the-person", ann)
            for query in (f"legalEntityId={oak}", f"vrn={VRN}", f"vrn=GB{VRN}"):
                assert (await tax.get(OBLIGATIONS, query)).status == 200
            for query in (f"legalEntityId={ann}", f"nino={NINO}", f"nino={NINO.lower()}"):
                assert (await tax.get(STATUS, f"{query}&taxYear=2026-27")).status == 200
            calls = [call.legal_entity_id for call in reversed(tax.calls())]
    assert bearers(server) == ["of-the-company"] * 3 + ["of-the-person"] * 3
    assert calls == [oak] * 3 + [ann] * 3


async def test_an_entity_without_a_grant_is_asked_about_over_the_organizations_and_no_others(
    open_tax: OpenTax,
) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="hmrc", upstream=server.url) as tax:
            oak, ann = await company(tax), await person(tax)
            await grant(tax, "of-the-company", oak)
            refused = await tax.get(STATUS, f"legalEntityId={ann}&taxYear=2026-27")
            await grant(tax, "of-the-agent")
            for path, query in ((STATUS, f"nino={NINO}&taxYear=2026-27"), (OBLIGATIONS, f"vrn={VRN}")):
                assert (await tax.get(path, query)).status == 200
    assert (refused.status, refused.code) == (409, "tax_not_connected")
    assert bearers(server) == ["of-the-agent", "of-the-company"]


@pytest.mark.parametrize("mode", ["hmrc", "forward"])
async def test_who_is_none_of_the_entities_is_asked_about_over_the_one_grant_or_it_is_to_be_named(
    open_tax: OpenTax, mode: str
) -> None:
    unknown = "vrn=123456789"
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode=mode, upstream=server.url) as tax:
            oak, ann = await company(tax), await person(tax)
            await grant(tax, "of-the-company", oak)
            assert (await tax.get(OBLIGATIONS, unknown)).status == 200
            await grant(tax, "of-the-person", ann)
            which = await tax.get(OBLIGATIONS, unknown)
            named = await tax.get(OBLIGATIONS, f"{unknown}&legalEntityId={ann}")
            await grant(tax, "of-the-agent")
            assert (await tax.get(OBLIGATIONS, unknown)).status == 200
    assert [(e["path"], e["code"]) for e in which.json()["errors"]] == [("legalEntityId", "required")]
    assert (which.status, named.status) == (422, 200)
    assert bearers(server) == ["of-the-company", "of-the-person", "of-the-agent"]


@pytest.mark.parametrize("mode", ["sandbox", "hmrc", "forward"])
async def test_an_entity_of_another_organization_is_not_found(open_tax: OpenTax, mode: str) -> None:
    """Also with a key that may ask about taxes, and not to be told from one that nobody has."""
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode=mode, upstream=server.url) as tax:
            await grant(tax, "ours")
            elm = {"name": "Elm", "type": "sole_trader", "vatNumber": VRN, "nino": NINO}
            theirs = await entity(tax, elm, token="other")
            for row, query in ((OBLIGATIONS, f"vrn={VRN}&"), (STATUS, "taxYear=2026-27&")):
                foreign = await tax.get(row, f"{query}legalEntityId={theirs}")
                nobody = await tax.get(row, f"{query}legalEntityId=ent_00000000000000000000000000")
                assert (foreign.status, foreign.code) == (nobody.status, nobody.code) == (404, "not_found")
                told = [{**reply.json(), "instance": "", "requestId": ""} for reply in (foreign, nobody)]
                assert told[0] == told[1]
    assert server.requests == []
