"""Without approval each of the ten operations is closed to every kind of credential; with it, open.

So is the one operation outside the subtree that asks the authority, to who may write entities, too.
"""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
import trio

from gatewayd.areas import businesses
from gatewayd.areas.legal_entities.operations import create_legal_entity
from gatewayd.areas.legal_entities.shapes import CreateLegalEntity
from gatewayd.identity import audit
from gatewayd.identity.clients import client_metadata, grants, oauth_clients
from gatewayd.identity.key_format import RANDOM_BYTES
from gatewayd.identity.keys import api_keys
from gatewayd.identity.people import memberships, users
from gatewayd.identity.sign_in import sessions
from gatewayd.identity.signing import signing_keys
from gatewayd.identity.signing.signing_keys import SigningKeys
from gatewayd.identity.tokens.access_tokens import AccessTokenParameters, AccessTokenVerifier, mint
from gatewayd.identity.tokens.authentication import ApiKeyVerifier, Authenticator
from gatewayd.leases.holder import Holder
from gatewayd.store import WriteTx
from gatewayd.tax import AREA, approvals, engine
from gatewayd.tax.approvals import Subject
from gatewayd.tax.settings import TaxSettings
from tests.support.api import TestedApi, Tuning, open_api
from tests.support.engines import Engines, TaxLog
from tests.support.oauth import signing_key
from tests.support.rows import served
from tests.support.store import make_caller
from tests.tax.conftest import HEADERS, query_of
from tests.tax.registry import SYNC

SECONDS = 60.0
SCOPES = ["openid", "entities:write", "tax:read", "tax:write"]  # of a token
ISSUER = "https://books.example"
T = TypeVar("T")


@dataclass
class House:
    """The ten operations behind the real authentication, in sandbox mode."""

    api: TestedApi
    keys: SigningKeys
    org_id: str
    user_id: str

    def make_key(self, tx: WriteTx, scopes: list[str]) -> tuple[Subject, str]:
        tx.bind(self.org_id)
        new = api_keys.NewKey(name="Key", user_id=self.user_id, scopes=scopes)
        made = api_keys.create(tx, new, secrets.token_bytes(RANDOM_BYTES), audit.OPERATOR)
        return Subject("key", made.id), made.key

    def make_grant(self, tx: WriteTx) -> tuple[Subject, str]:
        """A client, and a token that a person gave the tax scopes: no request of ours asks how."""
        tx.bind(self.org_id)
        raw = {"client_name": "App", "redirect_uris": ["https://app.example/"]}
        client = oauth_clients.register(tx, client_metadata.validate(raw))
        visitor = sessions.Visitor(user_agent="Firefox", address="192.0.2.1")
        session = sessions.start(tx, self.user_id, ["pwd"], visitor)[1]
        grant_id = grants.create(
            tx,
            grants.NewGrant(
                org_id=self.org_id,
                user_id=self.user_id,
                client_id=client.id,
                scopes=SCOPES,
                session_id=session.id,
                authenticated_at=tx.now,
                methods=("pwd",),
                nonce=None,
                redirect_host="app.example",
            ),
        )
        return Subject("client", client.id), grant_id

    async def statuses(self, token: str) -> list[tuple[int, str | None]]:
        """What each of the ten answers, with the code of a problem."""
        found = []
        for operation in AREA.operations:
            scenario = {"vat.getLiabilities": "SINGLE_LIABILITY_2018_19", "vat.getPayments": "SINGLE_PAYMENT_2018_19"}
            extra = scenario.get(operation.id)
            headers = [*HEADERS, (b"gov-test-scenario", extra.encode())] if extra else HEADERS
            reply = await self.api(
                "GET", f"/api/rpc{operation.path}", token=token, query=query_of(operation), headers=headers
            )
            found.append((reply.status, None if reply.status == 200 else reply.code))
        return found

    async def add_taxpayer(self) -> str:
        """A person whose businesses the authority knows."""
        new = CreateLegalEntity(name="Ann Oak", type="sole_trader", nino="AA123456A")
        made = await self.api.store.write(
            lambda tx: create_legal_entity(tx, make_caller(self.org_id), new), self.org_id
        )
        return made.id

    async def sync(self, token: str, person: str) -> tuple[int, str | None]:
        """What the comparison of the person's businesses answers."""
        request = {"legalEntityId": person}
        reply = await self.api("POST", SYNC, json=request, token=token, headers=HEADERS)
        return reply.status, None if reply.status == 200 else reply.code


@asynccontextmanager
async def open_house(directory: Path, image: bytes) -> AsyncIterator[House]:
    engines, keys = Engines(), SigningKeys()
    authenticator = Authenticator([ApiKeyVerifier(), AccessTokenVerifier(keys, ISSUER)])
    tuning = Tuning(deps=engines, authenticate=authenticator.authenticate)
    async with (
        open_api(directory, image, served(AREA, businesses.AREA), tuning) as api,
        engine.open_tax(
            Holder(api.store), TaxSettings(mode="sandbox"), api.clock, TaxLog(), "gatewayd/test"
        ) as engines.tax,
    ):
        await api.store.write(lambda tx: signing_keys.add(tx, [signing_key("ES256")]))
        api.store.read_now(keys.load, None)
        user_id = await api.store.write(_add_person, "org_a")
        yield House(api, keys, "org_a", user_id)


def _add_person(tx: WriteTx) -> str:
    user = users.create(tx, users.NewUser(email="ann@example.com", name="Ann"), audit.OPERATOR)
    memberships.add(tx, user.id, "owner", audit.OPERATOR)
    return user.id


CLOSED = [(403, "insufficient_scope")] * 10
OPEN = [(200, None)] * 10


async def credential(house: House, kind: str, chosen: tuple[str, ...] = ("tax:read",)) -> tuple[Subject, str]:
    """`chosen` are the scopes of a key that has some."""
    if kind != "token":
        scopes = list(chosen) if kind == "scoped" else []
        return await house.api.store.write(lambda tx: house.make_key(tx, scopes))
    subject, grant_id = await house.api.store.write(house.make_grant)
    grant = house.api.store.read_now(lambda tx: grants.find(tx, grant_id), None)
    assert grant is not None
    parameters = AccessTokenParameters(ISSUER, SCOPES, None, house.api.clock.now())
    return subject, mint(house.keys, grant, parameters)


@pytest.mark.parametrize("kind", ["scoped", "legacy", "token"])
async def test_closed_until_approved_and_again_after(tmp_path: Path, database_image: bytes, kind: str) -> None:
    with trio.fail_after(SECONDS):
        async with open_house(tmp_path, database_image) as house:
            subject, token = await credential(house, kind)
            _, other = await credential(house, "scoped")
            assert await house.statuses(token) == CLOSED
            await house.api.store.write(lambda tx: approvals.request(tx, subject, "We comply.", "usr_x"))
            assert await house.statuses(token) == CLOSED
            await house.api.store.write(lambda tx: approvals.approve(tx, subject, None, audit.OPERATOR))
            assert await house.statuses(token) == OPEN
            assert await house.statuses(other) == CLOSED
            await house.api.store.write(lambda tx: approvals.refuse(tx, subject, "Terms broken.", audit.OPERATOR))
            assert await house.statuses(token) == CLOSED


@pytest.mark.parametrize("kind", ["scoped", "legacy", "token"])
async def test_businesses_are_compared_for_who_is_approved_and_may_write(
    tmp_path: Path, database_image: bytes, kind: str
) -> None:
    needed = ("entities:write", "tax:read")
    with trio.fail_after(SECONDS):
        async with open_house(tmp_path, database_image) as house:
            person = await house.add_taxpayer()
            subject, token = await credential(house, kind, needed)
            reader, reading = await credential(house, "scoped", ("entities:read", "tax:read"))
            await house.api.store.write(lambda tx: approvals.approve(tx, reader, None, audit.OPERATOR))
            assert await house.sync(token, person) == (403, "insufficient_scope")
            assert await house.sync(reading, person) == (403, "insufficient_scope")
            await house.api.store.write(lambda tx: approvals.approve(tx, subject, None, audit.OPERATOR))
            assert await house.sync(token, person) == (200, None)
            assert await house.sync(reading, person) == (403, "insufficient_scope")
