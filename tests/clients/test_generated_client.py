"""A client that openapi-python-client generates from the description of the running daemon, and that calls it."""

import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gatewayd.clock import Instant
from gatewayd.webhooks.queue import attempts
from tests.clients.generators import SETTINGS_OF_PYTHON_CLIENT
from tests.clients.provider import Provider
from tests.daemon.instance import SECONDS
from tests.webhooks.harness import response

pytestmark = pytest.mark.either_engine("its subject is the description")

PACKAGE = "generated_books"


@dataclass
class Generated:
    """The package that was generated, and its client with the firm's key."""

    client: Any

    def model(self, name: str) -> Any:
        return getattr(importlib.import_module(f"{PACKAGE}.models"), name)

    def call(self, module: str, **arguments: object) -> Any:
        """What an operation answers, as its model."""
        sync: Callable[..., Any] = importlib.import_module(f"{PACKAGE}.api.{module}").sync
        return sync(client=self.client, **arguments)


@pytest.fixture(scope="module")
def generated(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Generated]:
    """Generated without one warning, and imported."""
    directory = tmp_path_factory.mktemp("generated")
    described = provider.api.get("/openapi.json")
    (directory / "openapi.json").write_bytes(described.content)
    (directory / "config.json").write_text(json.dumps(SETTINGS_OF_PYTHON_CLIENT))
    command = [Path(sys.executable).with_name("openapi-python-client"), "generate", "--path", "openapi.json"]
    options = ["--config", "config.json", "--meta", "none", "--output-path", PACKAGE, "--fail-on-warning"]
    done = subprocess.run(
        [*command, *options], cwd=directory, timeout=SECONDS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert done.returncode == 0, done.stdout.decode()
    sys.path.insert(0, str(directory))
    try:
        made = importlib.import_module(f"{PACKAGE}.client").AuthenticatedClient(
            base_url=described.json()["servers"][0]["url"],
            token=provider.firm.key,
            verify_ssl=provider.address.tls,
            httpx_args={"trust_env": False},
            raise_on_unexpected_status=True,
        )
        with made:
            yield Generated(made)
    finally:
        sys.path.remove(str(directory))
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            del sys.modules[name]


def test_every_operation_and_event_was_generated(provider: Provider, generated: Generated) -> None:
    paths = provider.api.get("/openapi.json").json()["paths"]
    root = Path(importlib.import_module(PACKAGE).__file__ or "").parent
    modules = [path for path in (root / "api").glob("*/*.py") if path.stem != "__init__"]
    for path in modules:
        importlib.import_module(f"{PACKAGE}.api.{path.parent.name}.{path.stem}")
    assert len(modules) == sum(len(item) for item in paths.values())


def test_a_generated_client_makes_out_an_invoice(generated: Generated) -> None:
    make, line = generated.model("CreateInvoice"), generated.model("LineRequest")
    address = generated.model("AddressRequest")(line1="8 Canal Wharf", town="Leeds", country_code="GB")
    new = generated.model("CreateClient")(name="Willow Interiors", billing_address=address)
    client = generated.call("accounting.accounting_create_client", body=new)
    body = make(client_id=client.id, lines=[line(description="Oak boards", unit_price="49.99", quantity="12")])
    draft = generated.call("accounting.accounting_create_invoice", body=body, idempotency_key="generated-1")
    assert (draft.status, draft.number) == ("draft", None)
    asked = {"expected_version": draft.version}
    issue = generated.model("IssueInvoice")(**asked)
    invoice = generated.call("accounting.accounting_issue_invoice", invoice_id=draft.id, body=issue)
    assert (invoice.status, invoice.number[:4], invoice.net_total) == ("issued", "INV-", "599.88")
    read = generated.call("accounting.accounting_get_invoice", invoice_id=draft.id)
    assert read.to_dict() == invoice.to_dict()
    page = generated.call("accounting.accounting_list_invoices", client_id=client.id, summary_only=True)
    assert [(each.id, each.is_overdue) for each in page.data] == [(draft.id, False)]
    again = generated.call("accounting.accounting_issue_invoice", invoice_id=draft.id, body=issue)
    assert (again.code, again.status) == ("version_conflict", 409)


def test_a_generated_client_deletes_a_draft(generated: Generated) -> None:
    body = {"client": {"name": "Alder Ltd"}, "lines": [{"description": "Joinery", "unitPrice": "10.00"}]}
    draft = generated.call(
        "accounting.accounting_create_invoice", body=generated.model("CreateInvoice").from_dict(body)
    )
    gone = generated.call("accounting.accounting_delete_invoice", invoice_id=draft.id)
    assert (gone.id, gone.deleted) == (draft.id, True)


def test_a_generated_client_reads_the_attempts_of_a_delivery(generated: Generated) -> None:
    result = response(503, headers=(("retry-after", "5"),))
    wire = attempts.render_completed(1, Instant(0), result, ())
    attempt = generated.model("Attempt").from_dict(json.loads(wire))
    assert [(header.name, header.value) for header in attempt.response_headers] == [("retry-after", "5")]
