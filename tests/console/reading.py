"""HTML as a strict reader sees it: what is wrong with a page, and the forms that stand on it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

VOID = frozenset({"input", "meta", "link", "img", "br", "hr"})
UNLABELLED = frozenset({"hidden", "submit"})


@dataclass(eq=False)
class Element:
    """One element with what is in it."""

    tag: str
    attributes: dict[str, str]
    parent: "Element | None" = None
    children: "list[Element | str]" = field(default_factory=list)

    def all(self, *tags: str) -> "Iterator[Element]":
        """The elements inside with one of these tags, or all of them, in document order."""
        for child in self.children:
            if isinstance(child, Element):
                if not tags or child.tag in tags:
                    yield child
                yield from child.all(*tags)

    def inside(self, *tags: str) -> "Element | None":
        """The nearest element with one of these tags around this one."""
        around = self.parent
        while around is not None and around.tag not in tags:
            around = around.parent
        return around

    @property
    def text(self) -> str:
        parts = [child if isinstance(child, str) else child.text for child in self.children]
        return " ".join("".join(parts).split())


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = self._here = Element("document", {})
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.faults.append(f"<{tag}> has an attribute twice: {names}")
        element = Element(tag, {name: value or "" for name, value in attrs}, self._here)
        self._here.children.append(element)
        if tag not in VOID:
            self._here = element

    def handle_endtag(self, tag: str) -> None:
        if tag != self._here.tag:
            self.faults.append(f"</{tag}> closes <{self._here.tag}>")
        if self._here.parent is not None:
            self._here = self._here.parent

    def handle_data(self, data: str) -> None:
        self._here.children.append(data)

    def close(self) -> None:
        super().close()
        if self._here is not self.root:
            self.faults.append(f"<{self._here.tag}> is not closed")


class Document:
    """One page of HTML."""

    def __init__(self, text: str) -> None:
        reader = _Reader()
        reader.feed(text)
        reader.close()
        self.root = reader.root
        self.faults = [*reader.faults, *self._more_faults()]

    @property
    def title(self) -> str:
        return next(self.root.all("title")).text

    @property
    def heading(self) -> str:
        return next(self.root.all("h1")).text

    @property
    def text(self) -> str:
        return next(self.root.all("main")).text

    @property
    def problem(self) -> str:
        """What is announced as wrong; empty where nothing is."""
        shown = [each for each in self.root.all() if each.attributes.get("role") == "alert"]
        return " ".join(each.text for each in shown if "hidden" not in each.attributes)

    @property
    def token(self) -> str:
        """What its forms carry."""
        (token,) = {value for form in self.root.all("form") for name, value in fields_of(form) if name == "csrf"}
        return token

    def links(self) -> list[str]:
        return [each.attributes["href"] for each in self.root.all("a")]

    def form(self, action: str) -> Element:
        found = [each for each in self.root.all("form") if each.attributes["action"] == action]
        assert found, f"no form to {action}"
        return found[0]

    def has_form(self, action: str) -> bool:
        return any(each.attributes["action"] == action for each in self.root.all("form"))

    def field_named(self, name: str) -> Element:
        """The field with that accessible name."""
        for label in self.root.all("label"):
            if label.text == name:
                wanted = label.attributes["for"]
                return next(each for each in self.root.all() if each.attributes.get("id") == wanted)
        raise AssertionError(f"no field {name}")

    def buttons(self) -> list[str]:
        """The accessible names of the buttons, in the order of the keyboard."""
        return [each.attributes.get("aria-label", each.text) for each in self.root.all("button")]

    def _more_faults(self) -> Iterator[str]:
        ids = [each.attributes["id"] for each in self.root.all() if "id" in each.attributes]
        yield from (f"the id {each} is there twice" for each in set(ids) if ids.count(each) > 1)
        if len(list(self.root.all("h1"))) != 1:
            yield "a page has one first heading"
        if not next(self.root.all("html")).attributes.get("lang"):
            yield "the language is not named"
        for each in self.root.all():
            yield from _faults_of(each, ids)
        levels = [int(each.tag[1]) for each in self.root.all("h1", "h2", "h3")]
        if any(after > before + 1 for before, after in pairwise(levels)):
            yield f"headings leave a level out: {levels}"
        wrapped = [each.attributes["for"] for each in self.root.all("label") if "for" in each.attributes]
        for each in self.root.all("input", "textarea", "select"):
            kind, hidden = each.attributes.get("type", "text"), each.attributes.get("aria-hidden")
            labelled = each.attributes.get("id") in wrapped or each.inside("label") or each.attributes.get("aria-label")
            if kind not in UNLABELLED and not labelled and not hidden:
                yield f"no label: {each.attributes}"


def _faults_of(each: Element, ids: list[str]) -> Iterator[str]:
    for name in ("for", "aria-describedby", "aria-labelledby"):
        yield from (f"{name} names {target}" for target in each.attributes.get(name, "").split() if target not in ids)
    if each.tag == "form":
        names = [field.attributes.get("name") for field in each.all("input")]
        asks = each.attributes.get("method") == "get"  # changes nothing: what it asks for stands in the address
        if names.count("csrf") != (0 if asks else 1) or not (asks or each.attributes.get("method") == "post"):
            yield f"a form that changes things is posted with its token: {each.attributes}"
    if each.tag == "button" and not (each.text or each.attributes.get("aria-label")):
        yield "a button says nothing"
    if each.tag == "img" and not each.attributes.get("alt"):
        yield "a picture says nothing"
    if each.tag == "script" and ("src" not in each.attributes or each.text):
        yield "a script inside the page: the policy refuses it"
    unsafe = [name for name in each.attributes if name.startswith("on") or name == "style"]
    if unsafe:
        yield f"the policy refuses {unsafe}"
    if int(each.attributes.get("tabindex", "0")) > 0:
        yield "the keyboard leaves the order of the page"


def fields_of(form: Element) -> list[tuple[str, str]]:
    """What a browser sends when nothing is touched and no button has a name."""
    sent = []
    for each in form.all("input"):
        kind = each.attributes.get("type", "text")
        if "name" in each.attributes and (kind not in ("checkbox", "radio") or "checked" in each.attributes):
            sent.append((each.attributes["name"], each.attributes.get("value", "")))
    sent += [(each.attributes["name"], each.text) for each in form.all("textarea")]
    for each in form.all("select"):
        options = list(each.all("option"))
        chosen = next((option for option in options if "selected" in option.attributes), options[0])
        sent.append((each.attributes["name"], chosen.attributes.get("value", chosen.text)))
    return sent
