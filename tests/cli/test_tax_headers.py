"""`gatewayd tax check-headers`: a request's headers are judged here, and by the authority where it has a test."""

import io
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from gatewayd.clock import SystemClock
from gatewayd.http1.request import Request
from gatewayd.sandbox_authority.authority import SandboxAuthority
from tests.cli.conftest import Run
from tests.tax.conftest import HEADERS, with_header


def written(fields: Any = HEADERS) -> str:
    return "".join(f"{name.decode()}: {value.decode()}\n" for name, value in fields)


def document(run: Run, path: Path, code: int = 0) -> Any:
    ran = run("tax", "check-headers", str(path), "--json")
    assert (ran.code, ran.err) == (code, "")
    return ran._replace(code=0).document


def test_sound_headers_are_valid_and_what_would_be_remarked_on_is_told(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "head"
    file.write_text(f"GET /tax/vat/getObligations HTTP/1.1\r\nHost: x\r\n{written()}\r\n\r\n{{}}")
    assert document(run, file) == {"valid": True, "faults": [], "warnings": [], "authority": None}
    file.write_text(written([*HEADERS, (b"Gov-Client-MAC-Addresses", b"planted")]))
    assert document(run, file)["warnings"] == [
        {
            "header": "Gov-Client-MAC-Addresses",
            "code": "unexpected",
            "message": "does not belong to WEB_APP_VIA_SERVER",
        }
    ]
    assert "planted" not in run("tax", "check-headers", str(file)).out


def test_faults_are_told_whatever_the_settings_do_about_them(run: Run, config_file: Path, tmp_path: Path) -> None:
    with config_file.open("a") as settings:
        settings.write('[tax]\nfraud_headers = "off"\nheaders_agreed_missing = ["Gov-Client-Multi-Factor"]\n')
    file = tmp_path / "head"
    file.write_text(written(with_header(b"gov-client-timezone", b"GMT", of=with_header(b"gov-client-multi-factor"))))
    told = document(run, file, 1)
    assert (told["valid"], told["faults"]) == (
        False,
        [
            {
                "header": "Gov-Client-Timezone",
                "code": "invalid_format",
                "message": "must be a time zone written UTC+hh:mm or UTC-hh:mm",
            }
        ],
    )


def test_an_agreement_names_headers_as_the_authority_does(run: Run, config_file: Path) -> None:
    before = config_file.read_text()
    for name, reason in (("gov-client-multi-factor", "is written Gov-Client-Multi-Factor"), ("X-A", "must be one of")):
        config_file.write_text(f'{before}[tax]\nheaders_agreed_missing = ["{name}"]\n')
        ran = run("check-config")
        assert (ran.code, "tax.headers_agreed_missing" in ran.err, reason in ran.err) == (2, True, True)


def test_input_and_what_is_no_head(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(written().encode())))
    assert run("tax", "check-headers", "-").code == 0
    file = tmp_path / "head"
    file.write_text("Accept: */*\nnot a header\n")
    assert run("tax", "check-headers", str(file)).err == "gatewayd: line 2 is no header: write `Name: value`\n"
    file.write_text("A: " + "x" * 70_000)
    assert "longer than" in run("tax", "check-headers", str(file)).err
    assert "cannot be read" in run("tax", "check-headers", str(tmp_path / "none")).err


class Stub(BaseHTTPRequestHandler):
    """The sandbox authority over HTTP."""

    authority = SandboxAuthority(SystemClock(), wants_tokens=True)

    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.answer()

    def answer(self) -> None:
        fields = [(name.encode(), value.encode()) for name, value in self.headers.items()]
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = self.authority.answer(Request(self.command, self.path, fields, body))
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
        """Say nothing."""


@pytest.fixture
def authority(config_file: Path) -> Iterator[Path]:
    """The file of the client's secret, with settings that lead to the authority's test service."""
    server = HTTPServer(("127.0.0.1", 0), Stub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    secret = config_file.parent / "secret"
    secret.write_text("s3cret\n")
    with config_file.open("a") as file:
        file.write(f'[tax]\nmode = "hmrc"\nupstream = "http://127.0.0.1:{server.server_port}"\n')
        file.write('upstream_is_sandbox = true\nclient_id = "app"\nclient_secret_file = "secret"\n')
    yield secret
    server.shutdown()
    thread.join(10)
    server.server_close()


def test_the_authority_is_asked_where_it_has_a_test(run: Run, authority: Path, tmp_path: Path) -> None:
    file = tmp_path / "head"
    file.write_text(written())
    assert document(run, file)["authority"] == {
        "specVersion": "3.3",
        "code": "VALID_HEADERS",
        "message": "All headers are valid",
    }
    file.write_text(written(with_header(b"gov-client-timezone")))
    told = document(run, file, 1)["authority"]
    assert (told["code"], told["errors"][0]["headers"]) == ("INVALID_HEADERS", ["gov-client-timezone"])


def test_an_authority_that_does_not_know_this_service_is_told_so(run: Run, authority: Path, tmp_path: Path) -> None:
    authority.write_text("\n")
    file = tmp_path / "head"
    file.write_text(written())
    ran = run("tax", "check-headers", str(file))
    assert (ran.code, "does not accept the client id and secret" in ran.err, ran.out) == (1, True, "")


def test_in_production_there_is_nobody_to_ask(run: Run, config_file: Path, tmp_path: Path) -> None:
    with config_file.open("a") as settings:
        settings.write('[tax]\nmode = "hmrc"\n')
    file = tmp_path / "head"
    real = with_header(b"gov-vendor-forwarded", b"by=9.9.9.9&for=8.8.8.8")
    file.write_text(written(real))
    assert document(run, file)["authority"] is None
