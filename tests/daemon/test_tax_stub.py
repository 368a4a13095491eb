"""`gatewayd dev tax-stub` as a process of its own, and a daemon in mode `hmrc` that takes it for the authority."""

import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from gatewayd.clock import HOUR, Instant, SettableClock
from gatewayd.http1.request import Request
from gatewayd.sandbox_authority.authority import SandboxAuthority
from gatewayd.sandbox_authority.oauth import AUTHORIZE, OUT_OF_BAND, TOKEN
from gatewayd.tax.connections import connections
from gatewayd.tax.connections.token_endpoint import tokens_of
from tests.daemon.instance import SECONDS, Instance, environment, plain_client, serving
from tests.daemon.tax_upstream import approved_key, ask
from tests.support import loaded
from tests.tax.conftest import HEADERS, with_header

OBLIGATIONS = "/api/rpc/tax/vat/getObligations?status=O"
SUMMARY = "/api/rpc/tax/selfAssessment/getFilingSummary?nino=AA123456A&taxYear=2025-26"


@dataclass
class Stub:
    """The process, and where it answers."""

    process: loaded.Program
    url: str

    def end(self, number: int) -> int:
        """Ask it to end; answers its exit code."""
        self.process.send_signal(number)
        return self.process.wait(SECONDS)


@contextmanager
def stub() -> Iterator[Stub]:
    command = ["-m", "gatewayd", "dev", "tax-stub", "--port", "0"]
    with loaded.start(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            assert found is not None, (line, process.poll())
            yield Stub(process, found[0])
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_answers_any_client_until_it_is_told_to_end(number: int) -> None:
    with stub() as served:
        with plain_client(served.url) as client:
            headers = {"Accept": "application/vnd.hmrc.1.0+json", "Authorization": "Bearer any"}
            told = client.get("/organisations/vat/123456789/obligations?status=O", headers=headers)
            nobody = client.get("/organisations/vat/123456789/obligations?status=O", headers={"Accept": "*/*"})
        assert (told.status_code, [one["status"] for one in told.json()["obligations"]]) == (200, ["O"])
        assert (nobody.status_code, nobody.json()["code"]) == (401, "MISSING_CREDENTIALS")
        assert served.end(number) == 0
        assert served.process.stderr is not None
        assert served.process.stderr.read() == ""


def settings(url: str) -> str:
    return (
        f'[tax]\nmode = "hmrc"\nupstream = "{url}"\nupstream_is_sandbox = true\n'
        'client_id = "app"\nclient_secret_file = "secret"\n'
    )


def ended_tokens() -> bytes:
    """What the authority gave five hours ago: the access token has ended since."""
    authority = SandboxAuthority(SettableClock(Instant(time.time_ns() // 1000 - 5 * HOUR)), wants_tokens=True)
    query = f"response_type=code&client_id=app&scope=read:vat&redirect_uri={OUT_OF_BAND}"
    code = authority.answer(Request("GET", f"{AUTHORIZE}?{query}", [])).body.decode().strip()
    form = f"grant_type=authorization_code&client_id=app&client_secret=s&redirect_uri={OUT_OF_BAND}&code={code}"
    return authority.answer(Request("POST", TOKEN, [], form.encode())).body


def test_an_organization_is_connected_to_it_asks_and_has_its_tokens_renewed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s3cret")
    with stub() as served:
        instance = Instance(tmp_path, settings(served.url))
        firm = instance.firm()
        with serving(instance) as running:
            key = approved_key(instance, firm.org_id, firm.user_id)
            assert ask(running, key, OBLIGATIONS).code == "tax_not_connected"

            page = {"response_type": "code", "client_id": "app", "scope": "read:vat", "redirect_uri": OUT_OF_BAND}
            code = httpx.get(f"{served.url}{AUTHORIZE}", params=page, trust_env=False).text.strip()
            ran = instance.run("tax", "connect", "--org", firm.org_id, "--code", code)
            assert ran.returncode == 0, ran.stderr
            first = instance.read(connections.find, firm.org_id)
            assert first is not None
            assert first.scope == "read:vat"

            told = ask(running, key, OBLIGATIONS, with_header(b"gov-test-scenario", b"QUARTERLY_NONE_MET"))
            assert (told.status, told.values("x-tax-upstream")) == (200, ["hmrc"])
            assert b'"periodKey":"18A1"' in told.body
            assert ask(running, key, SUMMARY).status == 200

            kept = tokens_of(ended_tokens())._replace(expires_in=None)
            instance.write(lambda tx: connections.save(tx, kept, "operator"), firm.org_id)
            assert ask(running, key, OBLIGATIONS, list(HEADERS)).status == 200
            renewed = instance.read(connections.find, firm.org_id)
            assert renewed is not None
            assert renewed.access not in (kept.access, first.access)
