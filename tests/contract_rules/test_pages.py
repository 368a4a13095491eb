"""Cursors continue the list they were made for, and no other."""

import base64
import datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayd.contract.pages import MAX_KEY, PAGE_BYTES, PageRequest, cursor_key, fill, next_cursor
from gatewayd.errors import Problem
from tests.contract_rules.rows import Listed, OtherListed, decoder

_KEY = (1_700_000_000_000_000, "inv_01")


def _with(cursor: str, limit: int = 50) -> Listed:
    return Listed(cursor=cursor, limit=limit)


def _refused(request: PageRequest, *types: type) -> None:
    with pytest.raises(Problem) as caught:
        cursor_key(request, *types)
    assert (caught.value.code, caught.value.status) == ("invalid_cursor", 400)


def _forged(*parts: object) -> str:
    """A cursor with the right binding of `Listed()` and any key."""
    good = msgspec.msgpack.decode(base64.urlsafe_b64decode(next_cursor(Listed(), ()) + "=="))
    return base64.urlsafe_b64encode(msgspec.msgpack.encode([*good, *parts])).decode()


def test_no_cursor_is_the_first_page() -> None:
    assert cursor_key(Listed(), int, str) is None


@given(st.integers(-(1 << 63), (1 << 63) - 1), st.text(max_size=64))
def test_a_cursor_brings_its_key_back(number: int, text: str) -> None:
    assert cursor_key(_with(next_cursor(Listed(), (number, text))), int, str) == (number, text)


def test_a_cursor_goes_into_a_query_as_it_is() -> None:
    for length in range(6):
        cursor = next_cursor(Listed(), ("x" * length,))
        request = decoder(Listed).query(f"cursor={cursor}")
        assert isinstance(request, Listed)
        assert cursor_key(request, str) == ("x" * length,)
        assert cursor_key(_with(cursor + "=" * (-len(cursor) % 4)), str) == ("x" * length,)  # padded by the client


def test_the_limit_may_change_between_pages() -> None:
    assert cursor_key(_with(next_cursor(Listed(limit=5), _KEY), limit=100), int, str) == _KEY


@pytest.mark.parametrize(
    "other",
    [
        Listed(q="a"),
        Listed(colour=["red"]),
        Listed(archived=True),
        Listed(updated_since=datetime.datetime(2026, 11, 20, tzinfo=datetime.UTC)),
    ],
)
def test_other_filters_refuse_it(other: Listed) -> None:
    _refused(msgspec.structs.replace(other, cursor=next_cursor(Listed(), _KEY)), int, str)
    _refused(_with(next_cursor(other, _KEY)), int, str)


def test_another_list_refuses_it() -> None:
    _refused(_with(next_cursor(OtherListed(), _KEY)), int, str)


@pytest.mark.parametrize("types", [(int,), (str,), (str, int), (int, str, str), ()])
def test_another_order_refuses_it(types: tuple[type, ...]) -> None:
    _refused(_with(next_cursor(Listed(), _KEY)), *types)


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "a",
        "!!!!",
        "é",
        "\ud800",
        "AAAA",
        base64.b64encode(b"\x90").decode(),
        base64.b64encode(b"\xc1").decode(),
        base64.b64encode(b"\x91" * 300).decode(),
        base64.b64encode(b"\xdd\xff\xff\xff\xff").decode(),
        next_cursor(Listed(), _KEY)[:-4],
        next_cursor(Listed(), _KEY) + "AAAA",
    ],
)
def test_garbage_is_refused(cursor: str) -> None:
    _refused(_with(cursor), int, str)


@pytest.mark.parametrize(
    "key",
    [(True, "a"), (1.5, "a"), (None, "a"), (b"1", "a"), ([1], "a"), ({}, "a"), (1 << 63, "a"), ((1 << 64) - 1, "a")],
)
def test_a_forged_key_of_another_type_is_refused(key: tuple[object, ...]) -> None:
    _refused(_with(_forged(*key)), int, str)


def test_a_key_with_broken_text_is_refused() -> None:
    raw = base64.urlsafe_b64decode(_forged(1, "aaa")).replace(b"aaa", b"\xed\xa0\x80")
    _refused(_with(base64.urlsafe_b64encode(raw).decode()), int, str)


@given(st.text(max_size=60))
def test_no_text_raises_anything_but_a_problem(cursor: str) -> None:
    _refused(_with(cursor), int, str)


def test_every_id_sorts_before_the_end() -> None:
    assert MAX_KEY > "zzz_zzzzzzzzzzzzzzzzzzzzzzzzzz"


def test_a_cursor_outlives_a_new_filter_and_a_move_of_the_code() -> None:
    def made(module: str, *more: tuple[str, type, object]) -> type[PageRequest]:
        kind = msgspec.defstruct("ListBoats", [("name", str | None, None), *more], bases=(PageRequest,), frozen=True)
        kind.__module__ = module
        return kind

    cursor = next_cursor(made("boats")(name="Oak"), _KEY)
    later = made("harbour.boats.shapes", ("length", int | None, None))
    assert cursor_key(later(name="Oak", cursor=cursor), int, str) == _KEY
    _refused(later(name="Oak", length=9, cursor=cursor), int, str)
    _refused(later(cursor=cursor), int, str)


# -- how much a page holds


@given(st.lists(st.integers(1, 2 * PAGE_BYTES), max_size=30), st.integers(1, 10))
def test_a_page_holds_what_fits_and_always_one(sizes: list[int], limit: int) -> None:
    left, pages = list(enumerate(sizes)), []
    more = True
    while more:
        rows = iter(left)
        page, more = fill(rows, limit, lambda row: row[1])
        assert len(page) <= limit
        assert len(page) <= 1 or sum(size + 1 for _, size in page) <= PAGE_BYTES
        assert (len(page) < len(left)) == more
        read = len(left) - len(list(rows))
        assert read <= len(page) + 1  # of what does not fit, one is read
        if more and len(page) < limit:
            assert sum(size + 1 for _, size in left[: len(page) + 1]) > PAGE_BYTES
        pages.append(page)
        left = left[len(page) :]
    assert [row for page in pages for row in page] == list(enumerate(sizes))
