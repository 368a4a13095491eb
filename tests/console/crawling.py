"""Where somebody comes who follows every link and looks at every form that they are shown."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, urldefrag, urljoin, urlsplit

from quart import Quart
from werkzeug.exceptions import HTTPException
from werkzeug.routing import Rule

from tests.console.reading import Document, fields_of
from tests.console.visiting import Answer, Browser

ALIKE: Final = 2
"""So many pages of one rule that are asked for the same things are looked at: those of two clients are alike."""
HTML_MOST: Final = 40_000


@dataclass(frozen=True)
class Form:
    """A form that changes something, with what it would send untouched."""

    action: str
    fields: tuple[tuple[str, str], ...]
    holds_file: bool = False

    @property
    def names(self) -> frozenset[tuple[str, str]]:
        """What it says of which thing it is: all but what is of this browser and this sending."""
        return frozenset(each for each in self.fields if each[0] not in ("csrf", "key", "next"))


@dataclass
class Seen:
    """What one visitor was shown: pages by their address, addresses that links name, and forms."""

    pages: dict[str, Answer] = field(default_factory=dict)
    shown: set[str] = field(default_factory=set)
    forms: dict[str, Form] = field(default_factory=dict)


def rule_at(app: Quart, address: str, method: str = "GET") -> Rule | None:
    """The rule of a page at an address; None: there is no page, as at the description of the API."""
    adapter: Any = app.url_map.bind("")
    try:
        rule, _ = adapter.match(urlsplit(address).path, method=method, return_rule=True)
    except HTTPException:
        return None
    found: Rule = rule
    return found


async def crawl(app: Quart, browser: Browser, *starts: str, signed_in: bool = True) -> Seen:
    """All that somebody is shown from there on. What they are led to has to be there.

    Who is not `signed_in` is led to the sign-in by the rest.
    """
    seen, alike = Seen(), Counter[object]()
    waiting = list(starts)
    while waiting:
        address = waiting.pop(0)
        rule = rule_at(app, address)
        if rule is None or address in seen.pages:
            continue
        shape = (rule.rule, frozenset(name for name, _ in parse_qsl(urlsplit(address).query)))
        alike[shape] += 1
        if alike[shape] > ALIKE:
            continue
        answer = await browser.get(address)
        assert answer.status in (200, 303), (address, answer.status)
        if answer.status == 303:
            assert not signed_in or not answer.location.startswith("/sign-in"), address
            found = [answer.location] if signed_in else []
        elif not answer.headers["Content-Type"].startswith("text/html"):  # a file, which leads nowhere
            seen.pages[address], found = answer, []
        else:
            seen.pages[address] = answer
            _look_at(address, answer)
            found = list(_addresses(answer.page, address))
            for form in _forms(answer.page, address):
                seen.forms.setdefault(form.action, form)
        seen.shown.update(found)
        waiting += found
    return seen


def _look_at(address: str, answer: Answer) -> None:
    """A page is small, and asks nobody else for anything."""
    assert len(answer.body) < HTML_MOST, address
    for each in answer.page.root.all("link", "script", "img"):
        source = each.attributes.get("src", each.attributes.get("href", ""))
        assert source.startswith(("/static/", "data:image/")), (address, source)


def _addresses(page: Document, here: str) -> Iterator[str]:
    """Where the links and the searches of a page lead, on this site."""
    for link in page.links():
        address = urldefrag(urljoin(here, link)).url
        if address.startswith("/"):
            yield address
    for form in page.root.all("form"):
        if form.attributes["method"] == "get":
            yield urljoin(here, form.attributes["action"])


def _forms(page: Document, here: str) -> Iterator[Form]:
    for form in page.root.all("form"):
        if form.attributes["method"] == "post":
            holds_file = form.attributes.get("enctype") == "multipart/form-data"
            yield Form(urljoin(here, form.attributes.get("action", "")), tuple(fields_of(form)), holds_file)
