"""What may be had once is had once, and what is counted has one count, though it is asked of two daemons at once."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

import httpx
import pytest

from tests.console.reading import Document, fields_of
from tests.daemon.conftest import ORIGIN, Shared
from tests.daemon.instance import SECONDS, Running, plain_client
from tests.daemon.test_daemons_on_one_database import Pair, made_pair
from tests.daemon.test_leavers import add_passkey
from tests.daemon.test_sign_in_of_programs import connect
from tests.identity.test_passkeys import as_json, options_of
from tests.support import purses
from tests.support.postgres import Server

pytestmark = pytest.mark.either_engine("it has PostgreSQLs of its own in either run")

T = TypeVar("T")
ATTEMPTS: Final = 5
SETTINGS: Final = f"""[limits]
requests_per_minute = 0
sign_in_attempts = {ATTEMPTS}
[oauth]
refresh_grace_seconds = 0
"""
AT_ONCE: Final = 16


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, postgresql: Server) -> Iterator[Pair]:
    url, directory = postgresql.url(postgresql.new_database()), tmp_path_factory.mktemp("attacked")
    with made_pair(directory, url, SETTINGS, ("gatewayd", "gatewayd")) as pair:
        yield pair
        pair.end()


def both(pair: Pair) -> list[Running]:
    return [running for running in pair.running if running is not None]


def at_once(pair: Pair, ask: Callable[[httpx.Client, int], T], count: int = AT_ONCE) -> list[T]:
    """What so many are answered, half of them by each daemon, who all ask at the same moment."""
    gate = threading.Barrier(count)

    def one(number: int) -> T:
        with plain_client(both(pair)[number % 2].url) as client:
            client.get("/healthz")  # connected before
            gate.wait(SECONDS)
            return ask(client, number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def call(client: httpx.Client, pair: Pair, operation_id: str, **values: object) -> httpx.Response:
    headers = {"Authorization": f"Bearer {pair.firm.key}"}
    return client.post("/api/rpc/" + operation_id.replace(".", "/"), headers=headers, json=values)


def statuses(answers: Sequence[httpx.Response]) -> list[int]:
    return sorted(answer.status_code for answer in answers)


def test_the_last_credits_are_spent_once(pair: Pair) -> None:
    instance, firm, given = pair.instances[0], pair.instances[0].firm("Metered"), AT_ONCE // 2
    instance.write(lambda tx: purses.price(tx, "crm.createLead", 1))
    instance.write(purses.put_on_plan, firm.org_id)
    instance.write(lambda tx: purses.grant(tx, given), firm.org_id)
    headers = {"Authorization": f"Bearer {firm.key}"}
    answers = at_once(
        pair, lambda client, _: client.post("/api/rpc/crm/createLead", headers=headers, json={"source": "fair"})
    )
    assert statuses(answers) == [200] * given + [402] * given
    assert instance.read(purses.balance, firm.org_id) == 0


def test_one_unit_is_let_once(pair: Pair) -> None:
    with plain_client(both(pair)[0].url) as client:

        def made(operation_id: str, **values: object) -> Any:
            answer = call(client, pair, operation_id, **values)
            assert answer.status_code == 200, answer.text
            return answer.json()["id"]

        owner = made("legalEntity.createLegalEntity", type="individual", name="Ann Oak")
        business = made("businesses.create", legalEntityId=owner, type="uk_property", name="Lets")
        house = made("landlord.createProperty", businessId=business, name="12 Oak Street", type="house")
        tenant = made("landlord.createTenant", kind="person", name="Tom Ash")
    let = {"propertyId": house, "tenantIds": [tenant], "startDate": "2026-01-01", "rentAmount": "900.00"}
    answers = at_once(
        pair, lambda client, _: call(client, pair, "landlord.createTenancy", rentFrequency="monthly", **let)
    )
    assert statuses(answers) == [200] + [409] * (AT_ONCE - 1), [answer.text for answer in answers]


def test_one_refresh_token_is_redeemed_once(pair: Pair) -> None:
    tokens = connect(Shared(pair.instances[0], both(pair)[0], pair.firm))
    form = {"grant_type": "refresh_token", "client_id": tokens["client_id"], "refresh_token": tokens["refresh_token"]}
    answers = at_once(pair, lambda client, _: client.post(tokens["token_endpoint"], data=form))
    assert statuses(answers) == [200] + [400] * (AT_ONCE - 1)


def test_one_answer_of_a_passkey_signs_in_once(pair: Pair) -> None:
    device = add_passkey(Shared(pair.instances[0], both(pair)[0], pair.firm), pair.firm.user_id)
    with plain_client(both(pair)[0].url) as http:
        page = Document(http.get("/sign-in").text)
        asked = http.post("/sign-in/passkey/options", data={"csrf": page.token})
        answer = as_json(device.get(options_of(asked.text), ORIGIN))
        form = {**dict(fields_of(page.form("/sign-in/passkey"))), "credential": answer}
        cookies = {"Cookie": "; ".join(f"{name}={value}" for name, value in http.cookies.items())}
    answers = at_once(pair, lambda client, _: client.post("/sign-in/passkey", data=form, headers=cookies))
    assert statuses(answers).count(303) == 1, [answer.status_code for answer in answers]


def test_wrong_passwords_have_one_count(pair: Pair) -> None:
    def guess(client: httpx.Client, number: int) -> str:
        page = Document(client.get("/sign-in").text)
        form = {**dict(fields_of(page.form("/sign-in"))), "email": pair.firm.email, "password": f"wrong {number}"}
        return client.post("/sign-in", data=form).text

    answers = at_once(pair, guess)
    told = [text for text in answers if "too many" not in text.lower() and "locked" not in text.lower()]
    assert len(told) <= ATTEMPTS, len(told)
    assert len(told) >= 1
