"""Webhooks lead neither into this machine nor back to the daemon: refused when made, blocked when sent."""

import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from gatewayd.store import WriteTx
from tests.daemon.instance import Firm, Instance, Running, plain_client, serving, until
from tests.daemon.test_start_and_stop import subscribe

pytestmark = pytest.mark.either_engine("its subject is the way out")

SUBSCRIPTIONS = "/api/rpc/webhooks/subscriptions"
ONCE = "allow_http = true\nfirst_retry_seconds = 3600\n"  # so that each delivery has one attempt
NO_LIMIT = "[limits]\nrequests_per_minute = 0\n"

# Every one of them is this machine or, for the metadata services, one that no listener here can stand for.
LITERALS = {
    "loopback": "127.0.0.1",
    "loopback, another address": "127.0.0.2",
    "loopback, short": "127.1",
    "loopback, decimal": "2130706433",
    "loopback, hex": "0x7f000001",
    "loopback, octal": "0177.0.0.1",
    "loopback, mixed": "0x7f.0.0.01",
    "loopback, trailing dot": "127.0.0.1.",
    "loopback, full width": "１２７.０.０.１",
    "loopback, ideographic stops": "127。0。0。1",
    "loopback, IPv6": "[::1]",
    "loopback, IPv6 in full": "[0:0:0:0:0:0:0:1]",
    "IPv4-mapped": "[::ffff:127.0.0.1]",
    "IPv4-compatible": "[::127.0.0.1]",
    "IPv4-translated": "[::ffff:0:127.0.0.1]",
    "NAT64": "[64:ff9b::127.0.0.1]",
    "NAT64, local use": "[64:ff9b:1::127.0.0.1]",
    "6to4": "[2002:7f00:1::1]",
    "Teredo": "[2001:0:7f00:1::]",
    "ISATAP": "[2606:4700::5efe:127.0.0.1]",
    "unspecified": "0.0.0.0",
    "unspecified, short": "0",
    "unspecified, IPv6": "[::]",
    "localhost": "localhost",
    "localhost, upper case": "LOCALHOST.",
    "metadata": "169.254.169.254",
    "metadata, decimal": "2852039166",
    "metadata, IPv6": "[fd00:ec2::254]",
    "metadata, Azure": "168.63.129.16",
    "private": "10.0.0.1",
    "shared address space": "100.64.0.1",
    "benchmarking": "198.18.0.1",
    "multicast": "224.0.0.1",
    "broadcast": "255.255.255.255",
    "reserved": "240.0.0.1",
    "unique local": "[fc00::1]",
    "link local": "[fe80::1]",
    "documentation": "[2001:db8::1]",
    "segment routing": "[5f00::1]",
}
NO_URL = {
    "zone": "[fe80::1%25eth0]",
    "zone of loopback": "[::1%25lo]",
    "percent-encoded": "%31%32%37.0.0.1",
    "user name": "example.com@127.0.0.1",
    "two trailing dots": "127.0.0.1..",
    "IPv4 in brackets": "[127.0.0.1]",
    "octal with a 9": "0179.0.0.1",
    "backslash": "example.com\\@127.0.0.1",
}


def own_address() -> str:
    """The address this machine has towards others; a loopback one where it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("203.0.113.1", 9))  # a datagram socket: no packet leaves
        except OSError:
            return "127.0.0.3"
        return str(probe.getsockname()[0])


@dataclass(frozen=True)
class Traps:
    """Listeners on one port of every address of this machine that may be meant."""

    port: int
    sockets: tuple[socket.socket, ...]

    def caught(self) -> int:
        """Connections so far: the kernel has accepted them, whoever looks."""
        count = 0
        for trap in self.sockets:
            try:
                while True:
                    trap.accept()[0].close()
                    count += 1
            except BlockingIOError:
                continue
        return count


@contextmanager
def traps() -> Iterator[Traps]:
    with ExitStack() as opened:
        first = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = first.getsockname()[1]
        made = [first]
        for host in dict.fromkeys(("127.0.0.2", own_address(), "::1")):
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            made.append(opened.enter_context(socket.create_server((host, port), family=family)))
        for trap in made:
            trap.setblocking(False)
        yield Traps(port, tuple(made))


def stored(instance: Instance, running: Running, firm: Firm, urls: Sequence[str]) -> None:
    """Subscriptions to these URLs, as other settings or an older version may have let them in."""
    change = "UPDATE webhook_subscriptions SET url = :url WHERE org_id = :org_id AND url = :placeholder"
    placeholders = {f"https://receiver.example/{number}": url for number, url in enumerate(urls)}
    for placeholder in placeholders:
        subscribe(running, firm, placeholder)

    def work(tx: WriteTx) -> int:
        return sum(tx.run(change, url=url, placeholder=old) for old, url in placeholders.items())

    assert instance.write(work, firm.org_id) == len(urls)


def outcomes(instance: Instance, firm: Firm, count: int) -> dict[str, tuple[str, str]]:
    """Status and last error by URL, once each of so many deliveries has had its attempt."""
    select = """
        SELECT s.url, d.status, d.last_error FROM deliveries d JOIN webhook_subscriptions s ON s.id = d.subscription_id
        WHERE d.org_id = :org_id AND d.last_error IS NOT NULL
    """

    def found() -> list[tuple[str, str, str]] | None:
        rows = instance.read(lambda tx: tx.rows(select), firm.org_id)
        return rows if len(rows) == count else None

    return {url: (status, error) for url, status, error in until(found)}


def emit(running: Running, firm: Firm) -> None:
    assert running.call(firm.key, "POST", "/api/rpc/crm/createLead", {"source": "web"}).status_code == 200


Strict = tuple[Instance, Running, Firm]


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Strict]:
    """A daemon that allows plain http, so that a trap would see a request, and no network."""
    instance = Instance(tmp_path_factory.mktemp("strict"), f"[webhooks]\n{ONCE}{NO_LIMIT}")
    firm = instance.firm()
    with serving(instance) as running:
        yield instance, running, firm
        assert running.end() == 0


@pytest.mark.parametrize("name", [*LITERALS, *NO_URL])
def test_a_subscription_to_it_is_refused(strict: Strict, name: str) -> None:
    _, running, firm = strict
    host = {**LITERALS, **NO_URL}[name]
    for url in (f"https://{host}/hooks", f"http://{host}:8080/hooks"):
        made = running.call(firm.key, "POST", SUBSCRIPTIONS, {"url": url, "events": ["lead.created"]})
        assert made.status_code in (400, 422), url
        assert [(error["path"], error["code"]) for error in made.json()["errors"]] == [("url", "invalid_url")]
    assert running.call(firm.key, "GET", SUBSCRIPTIONS).json()["data"] == []


def test_what_is_stored_all_the_same_is_blocked_and_nothing_is_touched(strict: Strict) -> None:
    instance, running, _ = strict
    firm = instance.firm("Stored Ltd")
    with traps() as trap:
        hosts = [*LITERALS.values(), own_address(), *NO_URL.values()]
        urls = [f"http://{host}:{trap.port}/hooks" for host in hosts]
        stored(instance, running, firm, urls)
        emit(running, firm)
        assert outcomes(instance, firm, len(urls)) == dict.fromkeys(urls, ("retrying", "blocked_address"))
        assert trap.caught() == 0


def test_a_name_of_this_machine_is_accepted_and_then_blocked(strict: Strict) -> None:
    instance, running, _ = strict
    firm = instance.firm("Named Ltd")
    name = socket.gethostname()
    with traps() as trap:
        url = f"http://{name}:{trap.port}/hooks"
        subscribe(running, firm, url)
        emit(running, firm)
        expected = "blocked_address" if resolves(name) else "dns"
        assert outcomes(instance, firm, 1) == {url: ("retrying", expected)}
        assert trap.caught() == 0


def resolves(name: str) -> bool:
    try:
        return bool(socket.getaddrinfo(name, 80))
    except socket.gaierror:
        return False


def test_the_traps_catch_who_may_come(tmp_path: Path) -> None:
    """So that the silence of the traps above says something."""
    networks = ["127.0.0.0/8", "::1", own_address()]
    instance = Instance(tmp_path, f"[webhooks]\nallow_networks = {networks}\ntimeout_seconds = 0.5\n{ONCE}")
    firm = instance.firm()
    hosts = ("127.0.0.1", "127.0.0.2", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "localhost", own_address())
    with traps() as trap, serving(instance) as running:
        for host in hosts:
            subscribe(running, firm, f"http://{host}:{trap.port}/hooks")
        emit(running, firm)
        found = outcomes(instance, firm, len(hosts))
        assert set(found.values()) == {("retrying", "timeout")}
        assert trap.caught() >= len(hosts)


def test_no_webhook_leads_back_to_the_daemon(tmp_path: Path) -> None:
    """Whatever is allowed, and by whatever address of this machine: its API and its metrics on every interface."""
    settings = f'[metrics]\nbind = "0.0.0.0:0"\n[webhooks]\nallow_networks = ["0.0.0.0/0", "::/0"]\n{ONCE}'
    binds = f'["0.0.0.0:0", "[::]:0", "127.0.0.4:0", "unix:{tmp_path}/socket"]'
    instance = Instance(tmp_path, settings, bind=binds)
    firm = instance.firm()
    with serving(instance) as running:
        (line,) = [line for line in running.lines() if line["event"] == "serving"]
        v4, v6, one, unix = running.addresses
        assert unix == f"unix:{tmp_path}/socket"
        (metrics,) = line["metrics"]
        everywhere = ("127.0.0.1", "127.9.9.9", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "localhost", "0.0.0.0")
        urls = [
            f"http://{host}:{port_of(address)}/hooks"
            for address in (v4, v6, metrics)
            for host in (*everywhere, "[::]", own_address(), "[64:ff9b::127.0.0.1]")
        ]
        urls += [f"http://{host}:{port_of(one)}/hooks" for host in ("127.0.0.4", "0x7f000004", "[::ffff:127.0.0.4]")]
        stored(instance, running, firm, urls)
        before = accepted(metrics)
        emit(running, firm)
        assert outcomes(instance, firm, len(urls)) == dict.fromkeys(urls, ("retrying", "blocked_address"))
        assert accepted(metrics) == before
        assert [line for line in running.lines() if line.get("operation") == "none"] == []
        assert running.end() == 0


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


def accepted(metrics: str) -> float:
    """Connections to the API so far."""
    with plain_client(metrics.replace("0.0.0.0", "127.0.0.1")) as client:
        found = re.search(r"^gatewayd_connections_accepted_total (\S+)$", client.get("/metrics").text, re.MULTILINE)
    assert found is not None
    return float(found[1])


def test_a_passed_socket_is_known_before_the_first_webhook(tmp_path: Path) -> None:
    """It listens while the daemon starts, and what waits from before is sent at the start."""
    with socket.create_server(("127.0.0.1", 0)) as passed:
        settings = f'[webhooks]\nallow_networks = ["127.0.0.0/8"]\n{ONCE}'
        instance = Instance(tmp_path, settings, bind=f'["fd://{passed.fileno()}", "unix:{tmp_path}/socket"]')
        firm = instance.firm()
        url = f"http://127.0.0.1:{passed.getsockname()[1]}/hooks"
        made = ("webhook", "create", "--org", firm.org_id, "--url", url, "--event", "lead.created", "--json")
        assert instance.run(*made).returncode == 0
        instance.do(firm.org_id, "crm.createLead", source="web")
        with serving(instance, descriptors=[passed.fileno()]) as running:
            assert outcomes(instance, firm, 1) == {url: ("retrying", "blocked_address")}
            assert running.end() == 0
        assert [line for line in running.lines() if line["event"] == "request"] == []
