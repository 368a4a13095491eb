"""Beside a running daemon somebody is removed, disabled or given another role: their next request is refused.

Each credential is used before, so that whatever the daemon remembers of it is remembered.
"""

from dataclasses import dataclass

import httpx
import pytest
from soft_webauthn import SoftWebauthnDevice

from gatewayd.identity import audit
from gatewayd.identity.people import memberships, users
from gatewayd.identity.sign_in import passkeys
from gatewayd.identity.sign_in.passkeys import RelyingParty
from tests.console.reading import Document, fields_of
from tests.daemon.conftest import ORIGIN, Shared
from tests.daemon.instance import Firm, plain_client
from tests.daemon.test_sign_in_of_programs import connect
from tests.identity.test_passkeys import CHALLENGE, as_json, options_of
from tests.support.oauth import sign_in

INVOICES = "/api/rpc/invoices"
PARTY = RelyingParty(id="localhost", origin=ORIGIN, name="gatewayd")
NEW_PASSWORD = "a good password of theirs"
WRITE = "accounting:read accounting:write offline_access"


@dataclass
class Leaver:
    """An owner beside another one, and everything that lets them in."""

    shared: Shared
    firm: Firm
    cookie: str
    device: SoftWebauthnDevice
    tokens: dict[str, str]

    def key_status(self) -> int:
        return self.shared.running.call(self.firm.key, "GET", INVOICES).status_code

    def jwt_status(self) -> int:
        return self.shared.running.call(self.tokens["access_token"], "GET", INVOICES).status_code

    def refresh(self) -> tuple[int, str | None]:
        """The answer to the newest refresh token; a successor is kept."""
        form = {"grant_type": "refresh_token", "client_id": self.tokens["client_id"]}
        form["refresh_token"] = self.tokens["refresh_token"]
        answer = self.shared.running.client.post(self.tokens["token_endpoint"], data=form)
        self.tokens["refresh_token"] = answer.json().get("refresh_token", form["refresh_token"])
        return answer.status_code, answer.json().get("error")

    def session_leads_to(self) -> str | None:
        """Where the home page sends the browser; None: it shows the page."""
        answer = self.shared.running.client.get("/", headers={"Cookie": f"session={self.cookie}"})
        return answer.headers.get("location")

    def with_passkey(self) -> httpx.Response:
        """Sign in with the passkey, in a browser of its own."""
        with plain_client(self.shared.running.url) as http:
            page = Document(http.get("/sign-in").text)
            asked = http.post("/sign-in/passkey/options", data={"csrf": page.token})
            answer = as_json(self.device.get(options_of(asked.text), ORIGIN))
            form = dict(fields_of(page.form("/sign-in/passkey")))
            return http.post("/sign-in/passkey", data={**form, "credential": answer})

    def all_work(self) -> bool:
        refreshed = self.refresh() == (200, None)
        statuses = [self.key_status(), self.jwt_status(), self.with_passkey().status_code]
        return refreshed and statuses == [200, 200, 303] and self.session_leads_to() is None


def add_passkey(shared: Shared, user_id: str) -> SoftWebauthnDevice:
    device = SoftWebauthnDevice()
    user = shared.instance.read(lambda tx: users.get(tx, user_id))
    made = as_json(device.create(options_of(passkeys.registration_options(PARTY, user, [], CHALLENGE)), ORIGIN))
    shared.instance.write(lambda tx: passkeys.register(tx, PARTY, user_id, "Laptop", made, CHALLENGE))
    return device


@pytest.fixture
def leaver(shared: Shared) -> Leaver:
    firm = shared.instance.firm("Larch Ltd")
    other = shared.firm.user_id
    shared.instance.write(lambda tx: memberships.add(tx, other, "owner", audit.OPERATOR), firm.org_id)
    cookie = shared.instance.write(lambda tx: sign_in(tx, firm.user_id, firm.org_id)).cookie
    tokens = connect(Shared(shared.instance, shared.running, firm))
    leaver = Leaver(shared, firm, cookie, add_passkey(shared, firm.user_id), tokens)
    assert leaver.all_work()
    return leaver


@pytest.fixture(params=["member remove", "user disable"])
def gone(request: pytest.FixtureRequest, leaver: Leaver) -> Leaver:
    """Who was let go of by a command, as a process of its own."""
    named = {
        "member remove": ["--org", leaver.firm.org_id, "--user", leaver.firm.email],
        "user disable": [leaver.firm.email],
    }
    ran = leaver.shared.instance.run(*request.param.split(), *named[request.param])
    assert ran.returncode == 0, ran.stderr
    return leaver


def test_the_session_of_a_leaver_is_refused(gone: Leaver) -> None:
    assert gone.session_leads_to() == "/sign-in?next=%2F"


def test_the_passkey_of_a_leaver_is_refused(gone: Leaver) -> None:
    answer = gone.with_passkey()
    words = "This passkey is not known here, or took too long."
    assert (answer.status_code, Document(answer.text).problem) == (422, words)


def test_the_key_of_a_leaver_is_refused(gone: Leaver) -> None:
    assert gone.key_status() == 401


def test_the_refresh_token_of_a_leaver_is_refused(gone: Leaver) -> None:
    assert gone.refresh() == (400, "invalid_grant")


def test_the_jwt_of_a_leaver_is_refused(gone: Leaver) -> None:
    assert gone.jwt_status() == 401


def test_who_is_disabled_is_refused_in_the_words_of_a_wrong_password(leaver: Leaver) -> None:
    instance, email = leaver.shared.instance, leaver.firm.email
    link = instance.run("user", "reset-password", email).stdout
    path = "/sign-in/reset/" + link.split("/sign-in/reset/")[1][:43]

    def submit(action: str, **values: str) -> httpx.Response:
        with plain_client(leaver.shared.running.url) as http:
            form = dict(fields_of(Document(http.get(action).text).form(action)))
            return http.post(action, data={**form, **values})

    assert submit(path, new=NEW_PASSWORD).status_code == 303
    assert submit("/sign-in", email=email, password=NEW_PASSWORD).status_code == 303
    assert instance.run("user", "disable", email).returncode == 0
    answers = [submit("/sign-in", email=email, password=each) for each in (NEW_PASSWORD, "wrong")]
    assert [each.status_code for each in answers] == [422, 422]
    assert {Document(each.text).problem for each in answers} == {"The address or the password is not right."}
    assert instance.run("user", "enable", email).returncode == 0
    assert submit("/sign-in", email=email, password=NEW_PASSWORD).status_code == 303


def test_a_role_given_by_the_command_counts_for_keys_and_apps_at_once(leaver: Leaver) -> None:
    """Only owners and administrators may take over the number of an old invoice."""
    firm, tokens = leaver.firm, connect(Shared(leaver.shared.instance, leaver.shared.running, leaver.firm), scope=WRITE)
    line = {"description": "Door", "unitPrice": "10.00"}
    invoice = {"clientId": firm.client_id, "lines": [line], "origin": "imported", "status": "issued"}
    answers = []
    for round_, role in enumerate(("admin", "member", "admin")):
        ran = leaver.shared.instance.run(
            "member", "set-role", "--org", firm.org_id, "--user", firm.email, "--role", role
        )
        assert ran.returncode == 0, ran.stderr
        for name, credential in (("key", firm.key), ("app", tokens["access_token"])):
            body = {**invoice, "number": f"OLD-{name}-{round_}", "issueDate": "2025-01-31"}
            answers.append(leaver.shared.running.call(credential, "POST", INVOICES, body).status_code)
    assert answers == [200, 200, 403, 403, 200, 200]


def test_sessions_end_at_once_and_apps_go_on(leaver: Leaver) -> None:
    assert leaver.shared.instance.run("user", "end-sessions", leaver.firm.email).returncode == 0
    assert leaver.session_leads_to() == "/sign-in?next=%2F"
    assert (leaver.key_status(), leaver.jwt_status(), leaver.refresh()) == (200, 200, (200, None))
