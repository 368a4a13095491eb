"""`docs/growth.md`: its settings, commands and the configurations of others' programs are what these take."""

import contextlib
import re
import shlex
import shutil
import socket
import socketserver
import ssl
import subprocess
import textwrap
import threading
import tomllib
from collections.abc import Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import psycopg
import pytest

from gatewayd.cli.parser import build_parser
from gatewayd.config import forms, keys
from gatewayd.http import documents
from tests.structure.sources import ROOT
from tests.support import postgres

PAGE = (ROOT / "docs" / "growth.md").read_text("utf-8")
SECONDS = 60
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    """What the page has for a program, by the word behind its fence."""
    return [text for name, text in FENCED.findall(PAGE) if name == language]


def test_every_setting_is_one() -> None:
    (text,) = blocks("toml")
    for section, values in tomllib.loads(text).items():
        known = vars(keys)[section.capitalize()].__dataclass_fields__
        assert sorted(values.keys() - known.keys()) == [], section


def test_every_setting_of_a_bucket_is_one() -> None:
    (text,) = re.findall(r"(?:^    files.* = .*\n)+", PAGE, re.MULTILINE)
    values = tomllib.loads(textwrap.dedent(text))
    assert sorted(values.keys() - vars(keys)["Store"].__dataclass_fields__.keys()) == []
    assert (forms.files_place_error(values["files"]), forms.endpoint_error(values["files_endpoint"])) == (None, None)
    assert values.keys() >= {"files_key_id", "files_secret_file"}


def test_the_addresses_of_the_settings_are_taken() -> None:
    (text,) = blocks("toml")
    settings = tomllib.loads(text)
    server = settings["server"]
    assert [forms.bind_error(one) for one in server["bind"]] == [None]
    assert [forms.proxy_error(one) for one in server["trusted_proxies"]] == [None]
    assert (forms.public_url_error(server["public_url"]), forms.database_url_error(settings["store"]["url"])) == (
        None,
        None,
    )


def commands() -> list[str]:
    """Each line with a command of gatewayd, as it stands in a block or in code marks."""
    lines = "\n".join(blocks("")).replace("\\\n", " ").splitlines()
    marked = re.findall(r"`([^`\n]+)`", FENCED.sub("", PAGE))
    found = [match[1] for line in [*lines, *marked] if (match := re.match(r"(?:\S*=)?\S*?\b(gatewayd [a-z].*)", line))]
    return sorted({*found})


@pytest.mark.parametrize("command", commands())
def test_every_command_is_one(command: str) -> None:
    """What a sentence names without its arguments asks for help in place of them."""
    words = shlex.split(command)[1:]
    with contextlib.suppress(SystemExit):
        build_parser().parse_args(words)
        return
    with pytest.raises(SystemExit) as ended:
        build_parser().parse_args([*words, "--help"])
    assert ended.value.code == 0


def test_commands_are_found() -> None:
    assert len(commands()) > 4


def test_postgresql_knows_what_is_set() -> None:
    (text,) = blocks("postgresql")
    names = re.findall(r"^(\w+) = ", text, re.MULTILINE)
    assert len(names) > 5
    with (
        postgres.running(postgres.require_programs()) as server,
        psycopg.connect(server.address("postgres")) as session,
    ):
        known = {name for (name,) in session.execute("SELECT name FROM pg_settings")}
    assert sorted(set(names) - known) == []


class Upstream(socketserver.ThreadingTCPServer):
    """What stands for a daemon behind TLS. One that is `dying` takes a request, and goes without an answer."""

    daemon_threads = True

    def __init__(self, name: str, certificate: Path, *, dying: bool) -> None:
        self.name, self.dying, self.seen = name, dying, list[str]()
        super().__init__(("127.0.0.1", 0), Answering)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.socket = context.wrap_socket(self.socket, server_side=True)


class Answering(BaseHTTPRequestHandler):
    """Notes each request, reads all of it, and says who it is."""

    protocol_version = "HTTP/1.1"
    server: Upstream

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.server.seen.append(self.command)
        if self.server.dying:
            self.close_connection = True
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.name)))
        self.end_headers()
        self.wfile.write(self.server.name.encode())

    do_GET = do_PUT = do_POST = do_PATCH = _answer  # noqa: N815 (called by these names)

    def log_message(self, *words: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for the name that the page uses, its own authority, and its key, in one file."""
    file = tmp_path_factory.mktemp("tls") / "all.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=books.example.com"]
    made += ["-addext", "subjectAltName=DNS:books.example.com", "-keyout", "-", "-out", "-"]
    file.write_bytes(subprocess.run(made, capture_output=True, check=True, timeout=SECONDS).stdout)
    return file


def configuration(folder: Path, certificate: Path, listening: str, upstreams: list[str]) -> Path:
    """The page's, with what is around it in Debian's own, and our addresses in place of its."""
    (text,) = blocks("nginx")
    for theirs, ours in (
        ("10.0.0.21:8443", upstreams[0]),
        ("10.0.0.22:8443", upstreams[1]),
        ("listen 443 ssl http2;", f"listen {listening};"),
        ("/etc/nginx/books.example.com.crt", str(certificate)),
        ("/etc/nginx/books.example.com.key", str(certificate)),
        ("/etc/nginx/authority.crt", str(certificate)),
    ):
        assert theirs in text
        text = text.replace(theirs, ours)
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    file = folder / "nginx.conf"
    file.write_text(
        f"daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log {folder}/errors;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}{text}}}\n"
    )
    return file


def nginx() -> str:
    """The program; a test that asks for it is skipped where there is none."""
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if found is None:
        pytest.skip("there is no nginx here (Debian: nginx-light)")
    return found


def test_nginx_takes_its_configuration(tmp_path: Path, certificate: Path) -> None:
    file = configuration(tmp_path, certificate, f"unix:{tmp_path}/door ssl http2", ["127.0.0.1:1", "127.0.0.1:2"])
    command = [nginx(), "-t", "-e", tmp_path / "errors", "-c", file]
    tried = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert tried.returncode == 0, tried.stderr


@contextlib.contextmanager
def proxied(folder: Path, certificate: Path) -> Iterator[tuple[Path, Upstream, Upstream]]:
    """Nginx on a unix socket before two daemons, the first of which is dying."""
    program = nginx()
    with contextlib.ExitStack() as stack:
        upstreams = [
            stack.enter_context(Upstream("one", certificate, dying=True)),
            stack.enter_context(Upstream("two", certificate, dying=False)),
        ]
        for upstream in upstreams:
            threading.Thread(target=upstream.serve_forever, daemon=True).start()
            stack.callback(upstream.shutdown)
        door = folder / "door"
        addresses = [f"127.0.0.1:{upstream.server_address[1]}" for upstream in upstreams]
        file = configuration(folder, certificate, f"unix:{door}", addresses)
        process = subprocess.Popen([program, "-e", folder / "errors", "-c", file])
        stack.callback(process.wait, SECONDS)
        stack.callback(process.terminate)
        _await_open(door, process)
        yield door, upstreams[0], upstreams[1]


def _await_open(door: Path, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(SECONDS * 100):
        with contextlib.suppress(OSError), _connected(door):
            return
        assert process.poll() is None
        threading.Event().wait(0.01)
    raise AssertionError("nginx does not open its door")


def _connected(door: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(SECONDS)
    try:
        connection.connect(str(door))
    except OSError:
        connection.close()
        raise
    return connection


def ask(door: Path, method: str, path: str = "/api/rpc/invoices", **fields: str) -> tuple[int, str]:
    connection = HTTPConnection("books.example.com")
    connection.sock = _connected(door)
    with contextlib.closing(connection):
        connection.request(method, path, b"{}" if method != "GET" else None, dict(fields))
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


@pytest.mark.parametrize(
    ("method", "path", "fields", "answer"),
    [
        ("GET", "/api/rpc/invoices", {}, (200, "two")),
        ("POST", "/api/rpc/invoices", {}, None),
        ("PATCH", "/api/rpc/invoices/inv_1", {}, None),
        ("POST", "/api/rpc/invoices", {"Idempotency-Key": "order-1"}, (200, "two")),
        ("PATCH", "/api/rpc/invoices/inv_1", {"Idempotency-Key": "order-2"}, (200, "two")),
        ("PUT", "/vault/uploads/token", {}, None),
    ],
)
def test_what_a_dying_daemon_took_is_asked_of_the_other_where_that_does_no_harm(
    tmp_path: Path, certificate: Path, method: str, path: str, fields: dict[str, str], answer: tuple[int, str] | None
) -> None:
    """None: nobody is asked a second time, and the answer is 502."""
    with proxied(tmp_path, certificate) as (door, dying, other):
        status, text = ask(door, method, path, **fields)
        assert dying.seen == [method]
        if answer is None:
            assert (status, other.seen) == (502, [])
        else:
            assert ((status, text), other.seen) == (answer, [method])


def test_a_daemon_that_is_gone_is_left_out(tmp_path: Path, certificate: Path) -> None:
    """What was not sent yet is no risk: a POST without a key too."""
    with proxied(tmp_path, certificate) as (door, dying, _):
        dying.shutdown()
        dying.server_close()
        assert [ask(door, "POST") for _ in range(4)] == [(200, "two")] * 4
        assert dying.seen == []


def test_the_paths_of_health_are_the_daemons() -> None:
    assert "`/readyz`" in PAGE
    assert "/readyz" in (documents.readiness.__doc__ or "")
