"""Which obligations are asked for goes to the tax authority as it was said."""

import trio

from tests.tax.conftest import OpenTax
from tests.tax.test_hmrc import SECONDS, connected, upstream


async def test_the_state_and_the_kind_of_business_that_are_asked_for(open_tax: OpenTax) -> None:
    with trio.fail_after(SECONDS):
        async with upstream() as server, open_tax(mode="hmrc", upstream=server.url) as tax:
            await connected(tax)
            asked = "nino=AA123456A&typeOfBusiness=self-employment&businessId=XBIS12345678901&status=open"
            await tax.get("/api/rpc/tax/itsaObligations/list", asked)
    path = "/obligations/details/AA123456A/income-and-expenditure"
    assert server.request.target == f"{path}?typeOfBusiness=self-employment&businessId=XBIS12345678901&status=open"
