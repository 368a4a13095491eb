"""Files of prices and rates as people and platforms write them."""

import io

import pytest

from gatewayd.statements.reading import read
from gatewayd.statements.shapes import PRICE_LIMITS, Hints, Limits, PriceLine, Refused, Unreadable


def found(content: str | bytes, limits: Limits | None = None) -> list[PriceLine | Refused]:
    raw = content.encode() if isinstance(content, str) else content
    hints = Hints(kind="prices", file_name="prices.csv", limits=limits or PRICE_LIMITS)
    return [one for one in read(io.BytesIO(raw), hints) if isinstance(one, PriceLine | Refused)]


def prices(content: str | bytes) -> list[tuple[str, str, str, str]]:
    return [(one.date, one.identifier, one.price, one.currency) for one in found(content) if isinstance(one, PriceLine)]


VOD = ("2026-10-01", "GB00BH4HKS39", "81.22", "GBX")


@pytest.mark.parametrize(
    "content",
    [
        "date,isin,price,currency\n2026-10-01,GB00BH4HKS39,81.22,GBX\n",
        "2026-10-01,GB00BH4HKS39,81.22,GBX\n",
        "\nDate;ISIN;Close;Ccy\n01/10/2026;GB00BH4HKS39;81,22;GBX\n",
        "Prices of today\n\nCcy\tSymbol\tNAV\tISIN\tPrice date\nGBX\tVOD\t81.22\tGB00BH4HKS39\t1 Oct 2026\n",
        '"date","identifier","price","currency"\r\n"2026-10-01","GB00BH4HKS39","81.22","GBX"\r\n',
        b"\xef\xbb\xbfdate,isin,price,currency\n2026-10-01,GB00BH4HKS39,81.22,GBX\n",
        "date,isin,price,currency\n2026-10-01,GB00BH4HKS39,81.22,GBX\n".encode("utf-16"),
    ],
)
def test_a_price_is_read_whatever_the_form(content: str | bytes) -> None:
    assert prices(content) == [VOD]


def test_the_day_comes_first_unless_the_file_shows_otherwise() -> None:
    assert [row[0] for row in prices("date,isin,price\n02/03/2026,A,1\n")] == ["2026-03-02"]
    shown = prices("date,isin,price\n02/03/2026,A,1\n02/28/2026,A,1\n")
    assert [row[0] for row in shown] == ["2026-02-03", "2026-02-28"]


@pytest.mark.parametrize(
    ("cells", "currency"),
    [("81.22,GBX", "GBX"), ("81.22,GBp", "GBp"), ("81.22p,", "GBX"), ("81.22 p,GBP", "GBX"), ("81.22P,GBX", "GBX")],
)
def test_pence_are_told_from_pounds(cells: str, currency: str) -> None:
    assert prices(f"date,isin,price,currency\n2026-10-01,A,{cells}\n") == [("2026-10-01", "A", "81.22", currency)]


def test_pence_of_another_currency_are_refused() -> None:
    (refused,) = found("date,isin,price,currency\n2026-10-01,A,81.22p,USD\n")
    assert isinstance(refused, Refused)
    assert refused.reason == "'81.22p' is in pence, and the currency is 'USD'"


def test_one_slip_does_not_turn_all_prices() -> None:
    """12.500 is twelve and a half where the others have a point, and not twelve thousand."""
    rows = "2026-10-01,A,81.22\n2026-10-02,A,12.500\n2026-10-03,A,80.75\n"
    assert [row[2] for row in prices(f"date,isin,price\n{rows}")] == ["81.22", "12.500", "80.75"]
    slip = found(f'date,isin,price\n{rows}2026-10-04,A,"81,5"\n')
    assert [one.price for one in slip if isinstance(one, PriceLine)] == ["81.22", "12.500", "80.75"]
    assert [one.line for one in slip if isinstance(one, Refused)] == [5]


def test_thousands_and_pairs_are_read() -> None:
    content = 'date,identifier,mic,price,currency\n2026-10-01,BRK.A,XNYS,"731,900.50",USD\n2026-10-01,usd/gbp,,0.76,\n'
    first, second = found(content)
    assert isinstance(first, PriceLine)
    assert isinstance(second, PriceLine)
    assert (first.identifier, first.exchange, first.price, first.pair) == ("BRK.A", "XNYS", "731900.50", None)
    assert (second.pair, second.price) == (("USD", "GBP"), "0.76")


def test_a_row_that_cannot_be_read_is_told_with_its_line() -> None:
    content = (
        "date,isin,price,currency\n"
        "2026-10-01,GB00BH4HKS39,81.22,GBX\n"
        "yesterday,GB00BH4HKS39,81.22,GBX\n"
        "\n"
        "2026-10-02,GB00BH4HKS39,n/a,GBX\n"
        "2026-10-02,,81.22,GBX\n"
        "2026-10-02,GB00BH4HKS39,-1,GBX\n"
        "2026-10-02,GB00BH4HKS39,0.1234567890123,GBX\n"
        "2026-10-03,GB00BH4HKS39,82,GBX\n"
    )
    refused = [one for one in found(content) if isinstance(one, Refused)]
    assert [one.line for one in refused] == [3, 5, 6, 7, 8]
    assert [one[0] for one in prices(content)] == ["2026-10-01", "2026-10-03"]
    assert all(one.reason for one in refused)


@pytest.mark.parametrize("content", ["", "\n\n", "%PDF-1.7\n", "name,colour\nOak,green\n", "date,isin\n2026-10-01,A\n"])
def test_what_has_no_such_columns_is_unreadable(content: str) -> None:
    with pytest.raises(Unreadable):
        found(content)


def test_a_file_is_bounded() -> None:
    content = "date,isin,price\n" + "2026-10-01,A,1\n" * 5
    with pytest.raises(Unreadable, match="more than 3 rows"):
        found(content, Limits(lines=3))
    with pytest.raises(Unreadable, match="longer than"):
        found(content + "2026-10-01,A," + "1" * 5000 + "\n", Limits(line_bytes=4096))
