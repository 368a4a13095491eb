"""An organization with several legal entities asks the sandbox about the one it names, by its id or by its number."""

import trio

from tests.tax.conftest import OBLIGATIONS, OpenTax, TaxApi

SECONDS = 60.0
VAT_RETURN = "/api/rpc/tax/vat/getVatReturn"  # its figures are derived from the registration number
OAK, ELM = "980780684", "765432126"


async def entity(tax: TaxApi, name: str, number: str) -> str:
    request = {"name": name, "type": "sole_trader", "vatNumber": f"GB{number}"}
    made = await tax.api("POST", "/legalEntity/createLegalEntity", json=request)
    assert made.status == 200, made.body
    return str(made.json()["id"])


async def test_each_entity_has_its_own_answers_by_id_or_by_number(open_tax: OpenTax) -> None:
    async def figures(whose: str) -> bytes:
        reply = await tax.get(VAT_RETURN, f"periodKey=18A1&{whose}")
        assert reply.status == 200, reply.body
        return reply.body

    with trio.fail_after(SECONDS):
        async with open_tax(mode="sandbox") as tax:
            oak, elm = await entity(tax, "Oak", OAK), await entity(tax, "Elm", ELM)
            by_id = [await figures(f"legalEntityId={one}") for one in (oak, elm)]
            by_number = [await figures(f"vrn={one}") for one in (OAK, ELM)]
            contradicting = await figures(f"vrn={ELM}&legalEntityId={oak}")
    assert by_id == by_number
    assert by_id[0] != by_id[1]
    assert contradicting == by_number[1]  # the number that is given is the one that is asked about


async def test_obligations_of_a_named_entity(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with open_tax(mode="sandbox") as tax:
            oak, _ = await entity(tax, "Oak", OAK), await entity(tax, "Elm", ELM)
            by_id = await tax.get(OBLIGATIONS, f"legalEntityId={oak}&status=O")
            by_number = await tax.get(OBLIGATIONS, f"vrn={OAK}&status=O")
            nobody = await tax.get(OBLIGATIONS, "legalEntityId=ent_00000000000000000000000000&status=O")
    assert (by_id.status, by_id.json()) == (200, by_number.json())
    assert by_id.json()["obligations"]
    assert (nobody.status, nobody.code) == (404, "not_found")
