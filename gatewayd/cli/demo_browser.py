"""A browser for the demo's people: keeps cookies, follows redirects, and sends the forms of the pages."""

from collections.abc import Mapping
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

from gatewayd.cli.demo_http import DemoFailed, Http

STEPS_MAX = 20  # Chosen: pages and redirects of one visit

Answers = Mapping[str, Mapping[str, str]]
"""What a person puts into the form of each page, by the page's path, the button's name and value included."""


class _Form(HTMLParser):
    """The form of a page that is sent to `action`: what it holds before anybody has touched it."""

    def __init__(self, action: str) -> None:
        super().__init__()
        self._action = action
        self._inside = False
        self.found = False
        self.fields: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form":
            self._inside = given.get("action") == self._action
            self.found = self.found or self._inside
        name = given.get("name")
        left_open = given.get("type") in ("checkbox", "radio") and "checked" not in given
        if self._inside and tag == "input" and name and not left_open:
            self.fields.append((name, given.get("value") or ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = False


class Browser:
    """One person's browser on the pages of `origin`."""

    def __init__(self, origin: str) -> None:
        self._http = Http()
        self._origin = origin

    async def visit(self, url: str, answers: Answers) -> str:
        """Go where an app sends the browser, and answer each page; the app's own address that it ends at.

        Raises `DemoFailed`, also where a page that there is an answer for is not met.
        """
        reply, met = await self._http.get(url), set[str]()
        for _ in range(STEPS_MAX):
            location: str | None = reply.headers["Location"]
            if location is None:
                path = urlsplit(reply.url).path
                met.add(path)
                fields = _filled(path, reply.expect().body.decode(), answers)
                reply = await self._http.post_form(self._origin + path, fields, {"Origin": self._origin})
                continue
            target = urljoin(reply.url, location)
            if not target.startswith(f"{self._origin}/"):
                if left_out := answers.keys() - met:
                    raise DemoFailed(f"the way did not lead through {', '.join(sorted(left_out))}")
                return target
            reply = await self._http.get(target)
        raise DemoFailed(f"the pages lead nowhere: {', '.join(sorted(met))}")


def _filled(path: str, page: str, answers: Answers) -> list[tuple[str, str]]:
    """The fields of a page's form, with the person's answers in their places."""
    form = _Form(path)
    form.feed(page)
    if path not in answers or not form.found:
        raise DemoFailed(f"there is no form to answer on {path}")
    answer = answers[path]
    return [each for each in form.fields if each[0] not in answer] + list(answer.items())
