"""What a call to the tax authority costs: once, however many requests it takes, and nothing where it is refused."""

from pathlib import Path

import pytest
import trio

from tests.support import purses
from tests.tax.conftest import OpenTax, TaxApi
from tests.tax.recording import upstream
from tests.tax.test_hmrc import GRANTED, QUERY, SECONDS, connected, refusing

FORWARDED, OWN = ("tax.forward", 5), ("vat.getObligations", 2)


async def on_plan(tax: TaxApi) -> None:
    """Let the organization have a plan, and credits for one call."""
    await tax.api.store.write(purses.put_on_plan, "org_a")
    for name, amount in (FORWARDED, OWN):
        await tax.api.store.write(lambda tx, name=name, amount=amount: purses.price(tx, name, amount))
    await tax.api.store.write(lambda tx: purses.leave(tx, 7), "org_a")


def booked(tax: TaxApi) -> tuple[list[tuple[str, int]], int, int]:
    """What was charged, what is left of it, and what is held."""
    return tax.api.store.read_now(lambda tx: (purses.charged(tx), purses.balance(tx), purses.held(tx)), "org_a")


@pytest.fixture
def secret(tmp_path: Path) -> str:
    file = tmp_path / "secret"
    file.write_text("s3cret\n")
    return str(file)


async def test_a_call_that_is_sent_again_with_a_fresh_token_is_charged_once(open_tax: OpenTax, secret: str) -> None:
    with trio.fail_after(SECONDS):
        async with (
            upstream() as server,
            open_tax(mode="hmrc", upstream=server.url, client_id="app", client_secret_file=secret) as tax,
        ):
            await connected(tax)
            await on_plan(tax)
            refusing(server, "second", GRANTED)
            reply = await tax.get(query=QUERY)
            found = booked(tax)
    assert [request.line.split(" ")[0] for request in server.requests] == ["GET", "POST", "GET"]
    assert (reply.status, found) == (200, ([OWN, FORWARDED], 0, 0))


@pytest.mark.parametrize("granted", [GRANTED, None], ids=["the fresh token is refused too", "there is no fresh one"])
async def test_a_call_whose_token_stays_refused_costs_nothing(
    open_tax: OpenTax, secret: str, granted: dict[str, object] | None
) -> None:
    with trio.fail_after(SECONDS):
        async with (
            upstream() as server,
            open_tax(mode="hmrc", upstream=server.url, client_id="app", client_secret_file=secret) as tax,
        ):
            await connected(tax)
            await on_plan(tax)
            refusing(server, "third", granted)
            reply = await tax.get(query=QUERY)
            found = booked(tax)
    assert len(server.requests) == (2 if granted is None else 3)
    assert (reply.status, reply.code, found) == (409, "tax_reauthorisation_required", ([], 7, 0))
