"""Tables of rates of exchange as their publishers have them."""

from gatewayd.statements.shapes import PriceLine, Refused
from tests.statements.test_price_files import found

ECB = """KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE,OBS_STATUS
EXR.D.GBP.EUR.SP00.A,D,GBP,EUR,SP00,A,2026-11-20,0.8712,A
EXR.D.USD.EUR.SP00.A,D,USD,EUR,SP00,A,2026-11-20,1.1525,A
"""
HMRC = """Country/Territories,Currency,Currency Code,Currency Units per £1,Start Date,End Date
Abu Dhabi,Dirham,AED,4.8291,01/11/2026,30/11/2026
"Japan",Yen,JPY,"1,203.55",01/11/2026,30/11/2026
Nowhere,None,,1,01/11/2026,30/11/2026
"""


def test_the_central_banks_rates_are_of_a_euro() -> None:
    pounds, dollars = found(ECB)
    assert isinstance(pounds, PriceLine)
    assert (pounds.date, pounds.pair, pounds.price, pounds.of_month) == ("2026-11-20", ("EUR", "GBP"), "0.8712", False)
    assert isinstance(dollars, PriceLine)
    assert (dollars.pair, dollars.price) == (("EUR", "USD"), "1.1525")


def test_hmrcs_rates_are_of_a_pound_and_of_a_month() -> None:
    dirham, yen, nothing = found(HMRC)
    assert isinstance(dirham, PriceLine)
    assert (dirham.date, dirham.pair, dirham.price, dirham.of_month) == ("2026-11-01", ("GBP", "AED"), "4.8291", True)
    assert isinstance(yen, PriceLine)
    assert (yen.pair, yen.price) == (("GBP", "JPY"), "1203.55")
    assert isinstance(nothing, Refused)
