"""Tokens for other services of the operator's (RFC 8707): one audience each, and none that the API takes too."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from gatewayd.identity.clients import grant_lists
from gatewayd.oauth import addresses as at
from gatewayd.oauth.app import OAuthApp
from tests.oauth.test_endpoints import bearer
from tests.oauth.test_token import claims_of
from tests.support.oauth import ISSUER, Provider, open_provider

MCP, OTHER = "https://mcp.example/mcp", "https://other.example"


@pytest.fixture
async def provider(database_image: bytes, tmp_path: Path) -> AsyncIterator[Provider]:
    """The provider of an operator who has two services more."""
    async with open_provider(tmp_path, database_image, resources=(MCP, OTHER)) as opened:
        yield opened


async def access_token(provider: Provider, asked: str, repeated: str | None = None) -> str:
    """What a client gets that asks for a resource, and repeats it or not at the token endpoint."""
    client_id = await provider.register()
    reply = await provider.redeem(client_id, await provider.code(client_id, resource=asked), resource=repeated)
    assert reply.status == 200, reply.body
    return str(reply.json()["access_token"])


@pytest.mark.parametrize(
    ("asked", "repeated", "audience"),
    [
        (MCP, MCP, MCP),
        (MCP, None, MCP),
        (OTHER, f"{OTHER}/", OTHER),
        (f"{OTHER}/", OTHER, OTHER),
        (ISSUER, ISSUER, ISSUER),
    ],
)
async def test_a_token_is_for_the_resource_that_was_asked_for(
    provider: Provider, asked: str, repeated: str | None, audience: str
) -> None:
    assert claims_of(await access_token(provider, asked, repeated))["aud"] == audience


async def test_the_api_and_userinfo_refuse_what_is_for_another(provider: Provider) -> None:
    for resource, status in ((MCP, 401), (ISSUER, 200)):
        token = await access_token(provider, resource)
        assert (await provider("GET", at.USERINFO, headers=[bearer(token)])).status == status


async def test_the_other_service_may_introspect_it(provider: Provider) -> None:
    token, key = await access_token(provider, MCP), bearer(await provider.key())
    seen = (await provider("POST", at.INTROSPECT, form={"token": token}, headers=[key])).json()
    assert (seen["active"], seen["aud"], seen["sub"]) == (True, MCP, provider.person.user_id)


async def test_a_refresh_stays_with_the_resource(provider: Provider) -> None:
    client_id = await provider.register()
    answer = (await provider.redeem(client_id, await provider.code(client_id, resource=MCP), resource=None)).json()
    for resource in (ISSUER, OTHER):
        refused = await provider.refresh(client_id, answer["refresh_token"], resource=resource)
        assert (refused.status, refused.json()["error"]) == (400, "invalid_target")
    fresh = (await provider.refresh(client_id, answer["refresh_token"])).json()
    assert claims_of(fresh["access_token"])["aud"] == MCP
    (grant,) = await provider.store.read(lambda tx: grant_lists.of_user(tx, provider.person.user_id))
    assert grant.resource == MCP


@pytest.mark.parametrize(("asked", "repeated"), [(MCP, ISSUER), (MCP, OTHER), (ISSUER, MCP)])
async def test_a_code_buys_nothing_for_another(provider: Provider, asked: str, repeated: str) -> None:
    client_id = await provider.register()
    code = await provider.code(client_id, resource=asked)
    refused = await provider.redeem(client_id, code, resource=repeated)
    assert (refused.status, refused.json()["error"]) == (400, "invalid_target")
    assert (await provider.redeem(client_id, code, resource=asked)).status == 200  # it was not used up


async def test_a_resource_that_was_taken_out_gets_no_more_tokens(provider: Provider) -> None:
    client_id = await provider.register()
    answer = (await provider.redeem(client_id, await provider.code(client_id, resource=MCP), resource=None)).json()
    provider.app = OAuthApp(replace(provider.parts, resources=(OTHER,)))
    refused = await provider.refresh(client_id, answer["refresh_token"])
    assert (refused.status, refused.json()["error"]) == (400, "invalid_target")


async def test_metadata_names_them(provider: Provider) -> None:
    reply = await provider("GET", "/.well-known/oauth-authorization-server")
    assert msgspec.json.decode(reply.body)["protected_resources"] == [ISSUER, MCP, OTHER]
