"""A passkey of `soft-webauthn`, which is no browser's: added on the account page, and used to connect an app."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import jwt
import pytest
from soft_webauthn import SoftWebauthnDevice
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url

from tests.clients.person import Form, Person, form_to
from tests.clients.provider import PASSWORD, Provider, opened

ACCOUNT = "/account"


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    """By its name: browsers make no passkey for an address."""
    with opened(tmp_path_factory.mktemp("provider"), "localhost") as provider:
        yield provider


def readable(options: dict[str, Any]) -> dict[str, Any]:
    """What the page's script hands to the browser."""
    options["challenge"] = base64url_to_bytes(options["challenge"])
    if "user" in options:
        options["user"]["id"] = base64url_to_bytes(options["user"]["id"])
    return {"publicKey": options}


def sendable(credential: dict[str, Any]) -> str:
    """What the page's script puts into the form."""
    given = credential["response"].items()
    response = {name: bytes_to_base64url(value) for name, value in given if isinstance(value, bytes)}
    identity = bytes_to_base64url(credential["rawId"])
    return json.dumps({"id": identity, "rawId": identity, "type": "public-key", "response": response})


class KeyHolder(Person):
    """Signs in with a device in place of the password."""

    device: SoftWebauthnDevice

    def sign_in(self, page: httpx.Response) -> Form:
        form = form_to(page, "/sign-in/passkey")
        credential = self.device.get(self.options(form), self.issuer)
        form.fill(credential=sendable(credential))
        return form

    def options(self, form: Form) -> dict[str, Any]:
        """What the script asks for before the device is used."""
        fields = [each for each in form.fields if each[0] == "csrf"]
        answer = self.send(Form(f"{form.action}/options", "post", fields))
        assert answer.status_code == 200, answer.text
        return readable(answer.json())


def add_passkey(provider: Provider, holder: KeyHolder) -> None:
    """By the person that is signed in with the password."""
    provider.person.visit(provider.asking(provider.register()["client_id"], "v" * 43))
    holder.browser.cookies = provider.person.browser.cookies
    page = holder.browser.get(f"{provider.issuer}{ACCOUNT}/passkeys/add")
    form = form_to(page, f"{ACCOUNT}/passkeys/add")
    holder.device = SoftWebauthnDevice()
    form.fill(name="Key ring", credential=sendable(holder.device.create(holder.options(form), provider.issuer)))
    added = holder.send(form)
    assert added.status_code == 303, added.text
    assert "Key ring" in holder.browser.get(f"{provider.issuer}{ACCOUNT}").text
    holder.browser.cookies = httpx.Cookies()


def test_an_app_is_connected_with_a_passkey(provider: Provider) -> None:
    with KeyHolder(provider.issuer, provider.firm.email, PASSWORD, provider.address.tls) as holder:
        add_passkey(provider, holder)
        client_id = provider.register()["client_id"]
        code = holder.answer_to(provider.asking(client_id, "v" * 43, scope="openid accounting:read"))["code"]
        assert list(holder.pages) == ["/sign-in", "/oauth/choose", "/oauth/consent"]
    tokens = provider.redeem(client_id, code, "v" * 43).json()
    claims = jwt.decode(tokens["id_token"], options={"verify_signature": False})
    assert claims["sub"] == provider.firm.user_id
    assert "pwd" not in claims["amr"]
    assert provider.call(tokens["access_token"]).status_code == 200


def test_a_passkey_that_nobody_added_lets_nobody_in(provider: Provider) -> None:
    with KeyHolder(provider.issuer, provider.firm.email, PASSWORD, provider.address.tls) as holder:
        holder.device = SoftWebauthnDevice()
        holder.device.cred_init("localhost", provider.firm.user_id.encode())
        page = holder.browser.get(f"{provider.issuer}/sign-in")
        answer = holder.send(holder.sign_in(page))
        assert answer.status_code == 422
        assert holder.browser.get(f"{provider.issuer}{ACCOUNT}").status_code == 303
