"""The conformance suite of the Model Context Protocol, in its mode for authorization servers."""

import json
import socket
import subprocess
import threading
from pathlib import Path

import httpx
import pytest

from tests.clients.programs import MODULES, recent_node
from tests.clients.provider import AUTHORIZE, Provider
from tests.daemon.instance import SECONDS, environment

SUITE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
CHECKS = ("authorization-server-metadata", "authorization-server-metadata-cimd", "authorization-code-grant")
"""Every check of the mode, in its two scenarios."""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def run_suite(provider: Provider, arguments: list[str]) -> int:
    """Run it, do what it asks of a person, and answer its exit code. Its output goes where `pytest` shows it."""
    trusting = environment(NODE_EXTRA_CA_CERTS=str(provider.address.ca_file))
    command = [recent_node(), str(SUITE), "authorization", *arguments]
    with subprocess.Popen(command, env=trusting, stdout=subprocess.PIPE, text=True) as process:
        limit = threading.Timer(SECONDS, process.kill)
        limit.start()
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="")
            if line.startswith(f"{provider.issuer}{AUTHORIZE}?"):
                assert httpx.get(provider.person.visit(line.strip()), timeout=SECONDS, trust_env=False).is_success
        code = process.wait(SECONDS)
        limit.cancel()
    return code


@pytest.mark.parametrize("names_resource", [True, False])
def test_the_authorization_server_conforms(provider: Provider, tmp_path: Path, names_resource: bool) -> None:
    port = free_port()
    client_id = provider.register(f"http://127.0.0.1:{port}/callback")["client_id"]
    resource = ["--resource", provider.issuer] if names_resource else []
    about = ["--url", provider.issuer, "--client-id", client_id, "--port", str(port), "--output-dir", str(tmp_path)]
    assert run_suite(provider, [*about, *resource]) == 0
    results = [check for path in sorted(tmp_path.rglob("checks.json")) for check in json.loads(path.read_text())]
    assert {check["id"]: check["status"] for check in results} == dict.fromkeys(CHECKS, "SUCCESS")
