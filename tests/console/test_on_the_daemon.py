"""The pages beside the API on one port, and the command line beside both."""

import re
from collections.abc import Iterator
from pathlib import Path
from signal import SIGHUP
from urllib.parse import urlsplit

import httpx
import pytest

from gatewayd.identity.people import users
from tests.console.reading import Document, fields_of
from tests.daemon.instance import Firm, Instance, Running, plain_client, serving
from tests.support.passwords import quick_hasher

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
NEW = "another good password"
PASSWORD = "correct horse battery"
ROOT = users.NewUser(
    email="root@example.com", name="Root", password_hash=quick_hasher().hash(PASSWORD), instance_admin=True
)


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Instance:
    return Instance(tmp_path_factory.mktemp("pages"), settings="[limits]\nsign_in_attempts = 2")


@pytest.fixture(scope="module")
def firm(instance: Instance) -> Firm:
    return instance.firm()


@pytest.fixture(scope="module")
def running(instance: Instance, firm: Firm) -> Iterator[Running]:
    with serving(instance) as started:
        yield started


@pytest.fixture
def http(running: Running) -> Iterator[httpx.Client]:
    with plain_client(running.url) as client:
        yield client


def submit(http: httpx.Client, page: httpx.Response, action: str, **values: str) -> httpx.Response:
    return http.post(action, data={**dict(fields_of(Document(page.text).form(action))), **values})


def test_pages_and_the_api_share_a_port(http: httpx.Client, firm: Firm) -> None:
    assert http.get("/").headers["location"] == "/sign-in?next=%2F"
    key = {"Authorization": f"Bearer {firm.key}"}
    for path in ("/api/rpc/invoices", "/invoices", "/webhooks/subscriptions", "/api/rpc/webhooks/subscriptions"):
        assert http.get(path, headers=key).status_code == 200, path
    for path in ("/nothing", "/accountx", "/developer"):
        answer = http.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert http.get("/account/nothing").headers["content-type"] == "text/html; charset=utf-8"


def test_a_mistyped_address_is_a_page_for_a_browser_and_json_for_a_program(http: httpx.Client, firm: Firm) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    for path in ("/nothing", "/accountx", "/api/rpc/nothing", "/sign-in/nothing"):
        answer = http.get(path, headers=browser)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8"), path
        assert Document(answer.text).heading == "There is nothing here"
        assert http.head(path, headers=browser).status_code == 404
        program = http.get(path, headers={"Accept": "*/*"}) if path != "/sign-in/nothing" else None
        assert program is None or program.headers["content-type"] == "application/problem+json"
    posted = http.post("/nothing", headers=browser)
    assert posted.headers["content-type"] == "application/problem+json"  # nobody types that
    known = http.get("/invoices", headers={**browser, "Authorization": f"Bearer {firm.key}"})
    assert (known.status_code, known.headers["content-type"]) == (200, "application/json")
    assert http.get("/healthz", headers=browser).status_code == 200


def test_head_has_the_headers_and_no_body(http: httpx.Client) -> None:
    answer = http.head("/sign-in")
    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) > 1000
    assert "content-security-policy" in answer.headers


@pytest.mark.parametrize("told", [True, False], ids=["with its length", "in chunks"])
def test_a_huge_form_is_refused_before_it_is_read(http: httpx.Client, told: bool) -> None:
    body = b"a=b&" * 100_000
    answer = http.post("/sign-in", content=body if told else iter([body[:60_000], body[60_000:]]), headers=FORM)
    assert answer.status_code == 413
    assert Document(answer.text).heading == "That is too much"
    assert http.get("/sign-in").status_code == 200


def test_an_administrator_sees_what_the_doctor_finds_and_what_waits(instance: Instance, http: httpx.Client) -> None:
    instance.write(lambda tx: users.create(tx, ROOT, "operator"))
    assert submit(http, http.get("/sign-in"), "/sign-in", email=ROOT.email, password=PASSWORD).status_code == 303
    health = Document(http.get("/admin/health").text)
    for said in ("Data directory", "Database", "Public URL", "Its last migration"):
        assert said in health.text
    assert "not ready" not in health.text
    jobs = Document(http.get("/admin/jobs").text)
    assert "0 are being sent by this daemon." in jobs.text
    assert "Organizations deleted" in jobs.text  # a round that is done at the start
    assert "No backup is known" in http.get("/admin/backups").text
    copy = instance.data.parent / "copy"
    assert instance.run("backup", str(copy)).returncode == 0
    backups = http.get("/admin/backups").text
    assert "The last backup is whole." in backups
    assert str(copy) in backups
    assert "was read again when it was made" in backups
    assert instance.run("verify", str(copy)).returncode == 0
    assert "Looked at once more on" in http.get("/admin/backups").text


def test_a_file_is_kept_and_given_back(instance: Instance, firm: Firm, http: httpx.Client) -> None:
    content = bytes(range(256)) * 4096
    found = re.search(r"/sign-in/reset/[\w-]{43}", instance.run("user", "reset-password", firm.email).stdout)
    assert found is not None
    assert submit(http, http.get(found[0]), found[0], new=NEW).status_code == 303
    assert submit(http, http.get("/sign-in"), "/sign-in", email=firm.email, password=NEW).headers["location"] == "/"
    form = dict(fields_of(Document(http.get("/documents").text).form("/documents")))
    form.pop("file")
    sent = http.post("/documents", data=form, files={"file": ("receipt.pdf", content)})
    assert sent.status_code == 303, sent.text
    given = http.get(f"{sent.headers['location']}/download").headers["location"]
    assert http.get(urlsplit(given).path).content == content
    forged = http.post("/documents", data={**form, "csrf": "x"}, files={"file": ("receipt.pdf", content)})
    assert forged.status_code == 403
    assert not list((instance.data / "incoming").iterdir())


def test_a_reset_link_made_beside_the_daemon(instance: Instance, firm: Firm, http: httpx.Client) -> None:
    ran = instance.run("user", "reset-password", firm.email)
    assert ran.returncode == 0, ran.stderr
    found = re.search(r"/sign-in/reset/[\w-]{43}", ran.stdout)
    assert found is not None
    assert "http://127.0.0.1:8080" + found[0] in ran.stdout  # the public address, whatever it is bound to
    page = http.get(found[0])
    assert submit(http, page, found[0], new=NEW).status_code == 303
    page = http.get("/sign-in")
    assert submit(http, page, "/sign-in", email=firm.email, password=NEW).headers["location"] == "/"
    assert "Hello, Ann Oak" in http.get("/").text


def test_a_lock_is_lifted_beside_the_daemon(instance: Instance, firm: Firm, http: httpx.Client) -> None:
    """And `limits.sign_in_attempts` is what counts."""

    def attempt() -> int:
        page = http.get("/sign-in")
        return submit(http, page, "/sign-in", email=firm.email, password="wrong").status_code

    assert [attempt() for _ in range(3)] == [422, 422, 429]
    assert instance.run("user", "unlock", firm.email).returncode == 0
    assert attempt() == 422


def test_a_first_owner_comes_in_by_the_link_of_init(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    settings = instance.config.read_text()
    instance.config.unlink()
    flags = ("--public-url", "http://127.0.0.1:8080", "--organization", "Oak", "--email", "ann@example.com")
    made = instance.run("init", *flags, "--name", "Ann Oak", "--directory", str(tmp_path / "data"))
    assert made.returncode == 0, made.stderr
    found = re.search(r"/sign-in/link/[\w-]{43}", made.stdout)
    assert found is not None
    instance.config.write_text(settings)
    with serving(instance) as running, plain_client(running.url) as http:
        page = http.get(found[0])
        assert submit(http, page, found[0]).headers["location"] == "/account"
        account = http.get("/account")
        assert submit(http, account, "/account/password", new=NEW).headers["location"] == "/account"
        assert "Change password" in http.get("/account").text


def test_other_sign_in_attempts_count_after_a_reload(tmp_path: Path) -> None:
    instance = Instance(tmp_path, settings="[limits]\nsign_in_attempts = 2")
    firms = [instance.firm() for _ in range(2)]
    with serving(instance) as running, plain_client(running.url) as http:

        def attempts(email: str) -> list[int]:
            page = http.get("/sign-in")
            tries = [submit(http, page, "/sign-in", email=email, password="wrong") for _ in range(3)]
            return [answer.status_code for answer in tries]

        assert attempts(firms[0].email) == [422, 422, 429]
        instance.config.write_text(instance.config.read_text().replace("attempts = 2", "attempts = 1"))
        running.terminate(SIGHUP)
        running.supervisor.until("READY")
        assert attempts(firms[1].email) == [422, 429, 429]
