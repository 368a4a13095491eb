"""The one response: its rendered lines, more fields on top of them, and how it is sent."""

from typing import Any

import pytest

from gatewayd.http1.response import Response, send_response
from tests.support.scopes import request_of

JSON = (b"content-type", b"application/json")


async def sent(response: Response, method: str = "GET") -> tuple[int, dict[bytes, bytes], bytes]:
    messages: list[Any] = []

    async def send(message: Any) -> None:
        messages.append(message)

    await send_response(request_of(method, "/"), response, send)
    start, body = messages
    return start["status"], dict(start["headers"]), body["body"]


@pytest.mark.parametrize("rendered", [True, False])
def test_more_fields_stand_after_those_that_were_there(rendered: bool) -> None:
    response = Response(200, (JSON,), b"{}")
    if rendered:
        assert response.lines == b"content-type: application/json\r\n"
    more = response.plus([(b"link", b"</x>")])
    assert more.lines == b"content-type: application/json\r\nlink: </x>\r\n"
    assert (more.status, more.headers, more.body) == (200, (JSON, (b"link", b"</x>")), b"{}")
    assert response.headers == (JSON,)


@pytest.mark.parametrize("value", [b"a\r\nset-cookie: x=y", b"a\nb", b"a\rb", b"a\0b"])
def test_no_value_starts_a_line_of_its_own(value: bytes) -> None:
    with pytest.raises(ValueError, match="CR, LF or NUL"):
        _ = Response(200, ((b"x", value),)).lines
    with pytest.raises(ValueError, match="CR, LF or NUL"):
        _ = Response(200, (JSON,), lines=b"").plus([(b"x", value)]).lines


async def test_a_response_is_sent_with_its_length_and_the_id_of_its_request() -> None:
    status, headers, body = await sent(Response(200, (JSON,), b"{}"))
    assert (status, headers[b"content-length"], body) == (200, b"2", b"{}")
    assert headers[b"x-request-id"].startswith(b"req_")


async def test_a_head_has_the_length_of_a_body_that_is_not_there() -> None:
    _, headers, body = await sent(Response(200, (JSON,), b"{}"), "HEAD")
    assert (headers[b"content-length"], body) == (b"2", b"")


async def test_204_has_no_length() -> None:
    _, headers, _ = await sent(Response(204, ()))
    assert b"content-length" not in headers
