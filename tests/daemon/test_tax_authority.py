"""The tax authority itself behind the real door: tokens given by command, used, refreshed, and ended."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlencode

import pytest
import trio

from gatewayd.contract.operation import Operation
from gatewayd.tax import AREA
from gatewayd.tax.connections import connections
from gatewayd.tax.connections.connections import Connection
from tests.daemon.conftest import Shared
from tests.daemon.hooks import make_authority
from tests.daemon.instance import SECONDS, Instance, serving, until
from tests.daemon.tax_upstream import ANYTHING, Reply, Service, approved_key, ask, decide, tax_settings, taxing
from tests.daemon.test_sign_in_of_programs import connect, register
from tests.tax.recording import Recorded, Stream, answer

QUERY = "/api/rpc/tax/vat/getObligations?vrn=980780684"
SECRET = "planted-client-secret"  # what the authority knows this service by


def tokens(number: int) -> dict[str, object]:
    """The answer of a token endpoint."""
    return {
        "access_token": f"planted-access-{number}",
        "refresh_token": f"planted-refresh-{number}",
        "scope": "read:vat read:self-assessment",
        "expires_in": 14_400,
    }


@dataclass
class Authority:
    """A script: accepts one access token, and gives the next ones for one refresh token."""

    good: int = 1
    refreshes: bool = True

    async def __call__(self, stream: Stream, request: Recorded) -> None:
        await stream.send_all(self._answer(request))

    def _answer(self, request: Recorded) -> bytes:
        if request.line.startswith("POST /oauth/token "):
            (spent,) = parse_qs(request.body.decode())["refresh_token"]
            if self.refreshes and spent == f"planted-refresh-{self.good - 1}":
                return answer(json.dumps(tokens(self.good)).encode())
            return answer(b'{"error":"invalid_grant"}', "400 Bad Request")
        if request.values("authorization") == [f"Bearer planted-access-{self.good}".encode()]:
            return answer(ANYTHING)
        refusal = b'{"code":"INVALID_CREDENTIALS","message":"x"}'
        return answer(refusal, "401 Unauthorized", b'WWW-Authenticate: Bearer realm="x"\r\n')


@dataclass
class House(Shared):
    """A daemon in mode `hmrc`, and the authority."""

    service: Service

    def connected(self, org_id: str, number: int = 1) -> None:
        """Connect an organization by command, while the daemon runs."""
        command = ("tax", "connect", "--org", org_id, "--replace", "--token-file", "-")
        ran = self.instance.run(*command, given=json.dumps(tokens(number)))
        assert (ran.returncode, "planted" in ran.stdout + ran.stderr) == (0, False), ran.stderr

    def kept(self, org_id: str) -> Connection:
        found = self.instance.read(connections.find, org_id)
        assert found is not None
        return found

    def authority(self, script: Authority) -> list[Recorded]:
        """Answer by it from now on; what arrives from now on."""
        self.service.script = script
        self.service.requests.clear()
        return self.service.requests


@contextmanager
def opened(directory: Path, more: str = "") -> Iterator[House]:
    """A house for the length of the block. At its end nothing planted is to be read in the log or the database."""
    authority, ca_file = make_authority(directory)
    (directory / "secret").write_text(SECRET)
    client = 'client_id = "app"\nclient_secret_file = "secret"\n'
    with taxing(authority) as service:
        instance = Instance(directory, tax_settings("hmrc", service, ca_file, client + more))
        firm = instance.firm()
        with serving(instance) as running:
            yield House(instance, running, firm, service)
            assert running.end() == 0
        assert "planted" not in running.log.read_text()
        assert firm.org_id.encode() in (stored := instance.stored())
        assert b"planted" not in stored


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with opened(tmp_path_factory.mktemp("authority")) as house:
        yield house


@pytest.fixture
def key(house: House) -> str:
    """A key that is approved."""
    return approved_key(house.instance, house.firm.org_id, house.firm.user_id)


def path_of(operation: Operation) -> str:
    return f"/api/rpc{operation.path}?{urlencode(operation.example)}"


def codes(house: House, token: str) -> list[str]:
    """What each of the ten answers: the code of a problem, or the status."""
    replies = [ask(house.running, token, path_of(operation)) for operation in AREA.operations]
    return [str(each.status) if each.values("content-type") == ["application/json"] else each.code for each in replies]


def test_all_ten_are_closed_until_they_are_approved_and_at_once_after(house: House) -> None:
    """For each kind of credential; the ten are asked with one, as the authority takes three requests a second."""
    firm, client_id = house.firm, register(house)
    scoped = house.instance.key(firm.org_id, firm.user_id, ["tax:read"])
    subjects = [("--key", scoped.id), ("--key", firm.key_id), ("--client", client_id)]

    house.connected(firm.org_id)
    requests = house.authority(Authority())
    closed = ["insufficient_scope"] * 10
    assert codes(house, scoped.key) == codes(house, firm.key) == closed
    decide(house.instance, "approve", subjects)
    program = connect(house, client_id, "openid tax:read")["access_token"]
    assert codes(house, scoped.key) == ["200"] * 10
    assert [ask(house.running, token, QUERY).status for token in (firm.key, program)] == [200, 200]
    asked = len(requests)
    decide(house.instance, "refuse", subjects)
    assert [codes(house, token) for token in (scoped.key, firm.key, program)] == [closed] * 3
    assert len(requests) == asked
    sent = {value for request in requests for value in request.values("authorization")}
    assert sent == {b"Bearer planted-access-1"}
    for token in (scoped.key, firm.key, program):
        assert not any(token.encode() in request.raw for request in requests)


def test_a_refused_token_is_refreshed_once_and_kept(house: House, key: str) -> None:
    house.connected(house.firm.org_id)
    requests = house.authority(Authority(good=2))
    replies = [ask(house.running, key, QUERY) for _ in range(2)]
    assert [reply.status for reply in replies] == [200, 200]
    assert [request.line.partition(" ")[0] for request in requests] == ["GET", "POST", "GET", "GET"]
    form = parse_qs(requests[1].body.decode())
    assert (form["refresh_token"], form["client_secret"]) == (["planted-refresh-1"], [SECRET])
    kept = house.kept(house.firm.org_id)
    assert (kept.access, kept.refresh) == ("planted-access-2", "planted-refresh-2")


@pytest.mark.parametrize("refreshes", [True, False], ids=["the new one too", "and not refreshed"])
def test_what_stays_refused_is_for_a_person_and_never_401(house: House, key: str, refreshes: bool) -> None:
    """One refresh, one more try: a token that is new and refused is not refreshed for the same call."""

    class Hard(Authority):
        def _answer(self, request: Recorded) -> bytes:
            if request.line.startswith("GET"):
                self.good, good = 0, self.good
                said = super()._answer(request)
                self.good = good
                return said
            return super()._answer(request)

    house.connected(house.firm.org_id)
    requests = house.authority(Hard(good=2, refreshes=refreshes))
    reply = ask(house.running, key, QUERY)
    assert (reply.status, reply.code) == (409, "tax_reauthorisation_required")
    assert json.loads(reply.body)["upstream"] == {"status": 401, "code": "INVALID_CREDENTIALS"}
    assert reply.values("www-authenticate") == []
    lines = [request.line.partition(" ")[0] for request in requests]
    assert lines == (["GET", "POST", "GET"] if refreshes else ["GET", "POST"])
    assert house.kept(house.firm.org_id).refresh == f"planted-refresh-{2 if refreshes else 1}"


def test_a_deadline_during_a_refresh_loses_nothing(tmp_path: Path) -> None:
    """The refresh token is spent by then: what came for it is there for the next call."""
    answered = threading.Event()

    class Slow(Authority):
        async def __call__(self, stream: Stream, request: Recorded) -> None:
            if request.line.startswith("POST"):
                with trio.fail_after(SECONDS):
                    while not answered.is_set():
                        await trio.sleep(0.01)
            await super().__call__(stream, request)

    with opened(tmp_path, "timeout_seconds = 4\n") as house:
        key = approved_key(house.instance, house.firm.org_id, house.firm.user_id)
        house.connected(house.firm.org_id)
        requests = house.authority(Slow(good=2))
        late = ask(house.running, key, QUERY)
        assert (late.status, late.code) == (504, "tax_upstream_timeout")
        answered.set()
        until(lambda: house.kept(house.firm.org_id).refresh == "planted-refresh-2")
        assert ask(house.running, key, QUERY).status == 200
    assert [request.line.partition(" ")[0] for request in requests] == ["GET", "POST", "GET"]


def test_an_organization_is_connected_and_disconnected_while_the_daemon_runs(house: House) -> None:
    firm = house.instance.firm("Larch Ltd")
    key = approved_key(house.instance, firm.org_id, firm.user_id)
    requests = house.authority(Authority())

    def told() -> Reply:
        return ask(house.running, key, QUERY)

    house.connected(house.firm.org_id)  # another organization's tokens are none of this one's
    assert (told().status, told().code) == (409, "tax_not_connected")
    assert requests == []
    house.connected(firm.org_id)
    assert told().status == 200
    assert house.instance.run("tax", "connect", "--org", firm.org_id, "--remove").returncode == 0
    assert told().code == "tax_not_connected"
