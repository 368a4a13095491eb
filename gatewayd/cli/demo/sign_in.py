"""A third party's app is connected: discovery, registration, sign-in, consent, tokens (RFC 8414, 7591, 6749)."""

import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from gatewayd.cli.demo.browser import Browser, FormEntries
from gatewayd.cli.demo.firm import Firm
from gatewayd.cli.demo.http import DemoFailed, HttpClient
from gatewayd.console.addresses import CHOOSE, CONSENT, SIGN_IN

APP_NAME = "Cash Calendar"
CALLBACK = "https://cash-calendar.example/connected"  # nobody goes there: the browser is stopped before it would
SCOPE = "openid accounting:read offline_access"
METADATA = "/.well-known/oauth-authorization-server"  # RFC 8414 §3
INVOICES = "/api/rpc/invoices"


class AppConnection:
    """The app, which knows nothing but the address of the service, and the person who connects it."""

    def __init__(self, origin: str, firm: Firm, password: str, say: Callable[[str], None]) -> None:
        self._origin = origin
        self._person = firm.people[0]
        self._password = password
        self._org_name = firm.org_name
        self._say = say
        self._http = HttpClient()

    async def run(self) -> None:
        """Do all of it, and say so step by step. Raises `DemoFailed`."""
        provider = (await self._http.get(self._origin + METADATA)).expect().json()
        registration = {"client_name": APP_NAME, "redirect_uris": [CALLBACK]}
        registered = (await self._http.post_json(provider["registration_endpoint"], registration)).expect(201)
        client_id = str(registered.json()["client_id"])
        self._say(f"2. An app, {APP_NAME}, registers itself as an OAuth client: {client_id}")
        verifier = secrets.token_urlsafe(32)
        code = await self._authorize(provider, client_id, verifier)
        self._say(f"     {self._person.name} signs in, chooses the account and allows it to read the books.")
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK}
        tokens = await self._request_tokens(provider, {**form, "client_id": client_id, "code_verifier": verifier})
        read = await self._try_token(tokens["access_token"])
        self._say(f"     With its token, good for {tokens['expires_in']} seconds, the app reads {read} invoices of")
        self._say(f"     {self._org_name}. It was not allowed to issue any, and cannot.")
        form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], "client_id": client_id}
        refreshed = await self._request_tokens(provider, form)
        if (
            refreshed["access_token"] == tokens["access_token"]
            or await self._try_token(refreshed["access_token"]) != read
        ):
            raise DemoFailed("the refreshed token is not as good as the first")
        self._say("     Its refresh token brings a new one, which is as good.")

    async def _authorize(self, provider: Mapping[str, Any], client_id: str, verifier: str) -> str:
        """The code that the person's browser brings back."""
        state = secrets.token_urlsafe(16)
        challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()  # RFC 7636 §4.2
        query = {
            "response_type": "code",
            "client_id": client_id,
            "redirect_uri": CALLBACK,
            "scope": SCOPE,
            "resource": self._origin,
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        entries: FormEntries = {
            SIGN_IN: {"email": self._person.email, "password": self._password},
            CHOOSE: {},
            CONSENT: {"decision": "allow"},
        }
        url = f"{provider['authorization_endpoint']}?{urlencode(query)}"
        landing = await Browser(self._origin).visit(url, entries)
        answer = {name: values[0] for name, values in parse_qs(urlsplit(landing).query).items()}
        if not landing.startswith(f"{CALLBACK}?") or "code" not in answer:
            raise DemoFailed(f"the app was not answered with a code: {answer.get('error', 'not at all')}")
        if (answer.get("state"), answer.get("iss")) != (state, provider["issuer"]):  # RFC 9207 §2.4
            raise DemoFailed("the app was answered by somebody else")
        return answer["code"]

    async def _request_tokens(self, provider: Mapping[str, Any], form: Mapping[str, str]) -> dict[str, Any]:
        tokens = (await self._http.post_form(provider["token_endpoint"], form)).expect().json()
        if not {"access_token", "refresh_token"} <= tokens.keys():
            raise DemoFailed("the app got no tokens that last")
        return tokens

    async def _try_token(self, token: str) -> int:
        """How many invoices the token reads. It must not write any."""
        headers = {"Authorization": f"Bearer {token}"}
        listed = (await self._http.get(self._origin + INVOICES, headers)).expect().json()
        (await self._http.post_json(self._origin + INVOICES, {}, headers)).expect(403)
        return len(listed["data"])
