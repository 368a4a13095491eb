"""A browser for the demo's people: remembers cookies, follows redirects, and sends the forms of the pages."""

from collections.abc import Mapping
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

from gatewayd.cli.demo.http import DemoFailed, HttpClient, Response

STEPS_MAX = 20  # Chosen: pages and redirects of one visit

FormEntries = Mapping[str, Mapping[str, str]]
"""What a person puts into the form of each page, by the page's path, the button's name and value included."""


class _Form(HTMLParser):
    """The form of a page that is sent to `action`, with the values it has at first."""

    def __init__(self, action: str) -> None:
        super().__init__()
        self._action = action
        self._inside = False
        self.is_there = False
        self.fields: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "form":
            self._inside = attributes.get("action") == self._action
            self.is_there = self.is_there or self._inside
        name = attributes.get("name")
        left_open = attributes.get("type") in ("checkbox", "radio") and "checked" not in attributes
        if self._inside and tag == "input" and name and not left_open:
            self.fields.append((name, attributes.get("value") or ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = False


class Browser:
    """One person's browser on the pages of `origin`."""

    def __init__(self, origin: str) -> None:
        self._http = HttpClient()
        self._origin = origin

    async def visit(self, url: str, entries: FormEntries) -> str:
        """Go where an app sends the browser, and fill in each page; returns the address of the app that it ends at.

        Raises `DemoFailed`, also where a page that there are entries for does not come.
        """
        response, visited = await self._http.get(url), set[str]()
        for _ in range(STEPS_MAX):
            location: str | None = response.headers["Location"]
            if location is None:
                path = urlsplit(response.url).path
                visited.add(path)
                fields = _fill_form(path, response.expect().body.decode(), entries)
                response = await self._http.post_form(self._origin + path, fields, {"Origin": self._origin})
                continue
            target = urljoin(response.url, location)
            if not target.startswith(f"{self._origin}/"):
                if left_out := entries.keys() - visited:
                    raise DemoFailed(f"the way did not lead through {', '.join(sorted(left_out))}")
                return target
            response = await self._http.get(target)
        raise DemoFailed(f"the pages lead nowhere: {', '.join(sorted(visited))}")


async def fill_in(http: HttpClient, url: str, action: str, entry: Mapping[str, str]) -> Response:
    """Open a page and send its form that goes to `action`, with a person's entries. Raises `DemoFailed`."""
    path = urlsplit(action).path
    origin = action.removesuffix(path)
    page = (await http.get(url)).expect().body.decode()
    return await http.post_form(action, _filled(path, page, entry), {"Origin": origin})


def _fill_form(path: str, page: str, entries: FormEntries) -> list[tuple[str, str]]:
    """The fields of a page's form, with the person's entries in their places."""
    if path not in entries:
        raise DemoFailed(f"there is no form to answer on {path}")
    return _filled(path, page, entries[path])


def _filled(action: str, page: str, entry: Mapping[str, str]) -> list[tuple[str, str]]:
    form = _Form(action)
    form.feed(page)
    if not form.is_there:
        raise DemoFailed(f"there is no form to answer on {action}")
    return [each for each in form.fields if each[0] not in entry] + list(entry.items())
