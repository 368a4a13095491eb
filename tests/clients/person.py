"""Somebody with a browser: signs in, chooses, consents, over HTTP with cookies and forms, as the pages ask for it."""

import ssl
from collections.abc import Collection
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Self
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import httpx

from tests.daemon.instance import SECONDS

STEPS_MAX = 20  # from the app's request to its answer
BROWSER = {"Accept": "text/html", "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"}


@dataclass
class Form:
    """A form of a page as a browser would send it: hidden fields, what is checked, and its buttons."""

    action: str
    method: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    choices: dict[str, list[str]] = field(default_factory=dict)
    """Every value of the boxes and radios, checked or not, by name."""
    buttons: list[tuple[str, str]] = field(default_factory=list)
    inputs: set[str] = field(default_factory=set)

    def fill(self, **values: str | Collection[str]) -> None:
        """Put values in the place of those that the page came with. Each field must be there."""
        for name, value in values.items():
            assert name in self.inputs, f"the form has no {name}"
            wanted = [value] if isinstance(value, str) else list(value)
            assert set(wanted) <= set(self.choices.get(name, wanted)), f"{name} cannot be {wanted}"
            self.fields = [each for each in self.fields if each[0] != name] + [(name, each) for each in wanted]

    def press(self, name: str, value: str) -> None:
        """Use this button."""
        assert (name, value) in self.buttons, self.buttons
        self.fields.append((name, value))


class _Page(HTMLParser):
    """What can be done on a page."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.links: list[str] = []
        self._open: Form | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._open = Form(given.get("action", ""), given.get("method", "get"))
            self.forms.append(self._open)
        elif tag == "a":
            self.links.append(given.get("href", ""))
        elif self._open is not None and tag in ("input", "button") and given.get("name"):
            self._add(self._open, tag, given)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None

    def _add(self, form: Form, tag: str, given: dict[str, str]) -> None:
        named = given["name"], given.get("value", "")
        form.inputs.add(given["name"])
        if tag == "button":
            form.buttons.append(named)
            return
        chosen = given.get("type") in ("checkbox", "radio")
        if chosen:
            form.choices.setdefault(given["name"], []).append(named[1])
        if not chosen or "checked" in given:
            form.fields.append(named)


def form_to(page: httpx.Response, action: str) -> Form:
    """The form of a page that is sent to this path."""
    (form,) = [form for form in _read(page).forms if form.action == action]
    return form


def _read(page: httpx.Response) -> _Page:
    parser = _Page()
    parser.feed(page.text)
    return parser


@dataclass(frozen=True)
class Decision:
    """What the person answers. `scopes` None leaves checked what the page has checked; `organization` likewise."""

    allow: bool = True
    scopes: Collection[str] | None = None
    organization: str | None = None


ALLOW = Decision()


class Person:
    """A person with an account and a browser that keeps its cookies. `pages` were seen on the last visit, by path."""

    def __init__(self, issuer: str, email: str, password: str, tls: ssl.SSLContext) -> None:
        self.issuer = issuer
        self.email = email
        self._password = password
        self.pages: dict[str, str] = {}
        self.offered: list[str] = []
        """The scopes that the last consent page showed."""
        self.browser = httpx.Client(headers=BROWSER, verify=tls, timeout=SECONDS, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.browser.close()

    def visit(self, url: str, decision: Decision = ALLOW) -> str:
        """Go where an app sends the browser, and answer; the address on the app's side that it ends at.

        Where a refusal is shown, the person takes its link back to the app. Fails with the text of a page without one.
        """
        self.pages = {}
        response = self.browser.get(url)
        for _ in range(STEPS_MAX):
            if response.has_redirect_location:
                target = urljoin(str(response.url), response.headers["Location"])
                if not self.is_ours(target):
                    return target
                response = self.browser.get(target)
                continue
            self.pages[response.url.path] = response.text
            if response.status_code == 400 and (back := self._way_back(response)):
                return back
            assert response.status_code == 200, f"{response.url} answers {response.status_code}: {response.text}"
            response = self._answer(response, decision)
        raise AssertionError(f"the pages go round in a circle: {list(self.pages)}")

    def answer_to(self, url: str, decision: Decision = ALLOW) -> dict[str, str]:
        """The same; the parameters that the app is answered with."""
        return dict(parse_qsl(urlsplit(self.visit(url, decision)).query, keep_blank_values=True))

    def is_ours(self, url: str) -> bool:
        """Whether an address belongs to the identity provider."""
        return url == self.issuer or url.startswith(f"{self.issuer}/")

    def _answer(self, page: httpx.Response, decision: Decision) -> httpx.Response:
        """Fill in the form of a page and send it."""
        path = page.url.path
        if path == "/sign-in":
            return self.send(self.sign_in(page))
        form = form_to(page, path)
        if path == "/oauth/consent":
            self._decide(form, decision)
        else:
            assert path == "/oauth/choose", f"nobody told the person what to do on {path}"
        return self.send(form)

    def sign_in(self, page: httpx.Response) -> Form:
        """The form of the sign-in page, filled in."""
        form = form_to(page, "/sign-in")
        form.fill(email=self.email, password=self._password)
        return form

    def send(self, form: Form) -> httpx.Response:
        """Send a form as a browser does."""
        assert form.method == "post"
        headers = {"Origin": self.issuer, "Content-Type": "application/x-www-form-urlencoded"}
        return self.browser.post(f"{self.issuer}{form.action}", content=urlencode(form.fields), headers=headers)

    def _way_back(self, page: httpx.Response) -> str:
        """The link that leads away from us; empty where there is none."""
        return next((link for link in _read(page).links if "://" in link and not self.is_ours(link)), "")

    def _decide(self, form: Form, decision: Decision) -> None:
        self.offered = form.choices.get("scope", [])
        if decision.scopes is not None:
            form.fill(scope=decision.scopes)
        if decision.organization is not None:
            form.fill(organization=decision.organization)
        form.press("decision", "allow" if decision.allow else "deny")
