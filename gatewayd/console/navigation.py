"""The rail at the left of every page: what there is, and who sees it."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from gatewayd.console.addresses import (
    ACCESS,
    ADMIN_AUDIT,
    ADMIN_BACKUPS,
    ADMIN_CLIENTS,
    ADMIN_HEALTH,
    ADMIN_JOBS,
    ADMIN_ORGANIZATIONS,
    ADMIN_PEOPLE,
    ADMIN_TAX,
    APPS,
    CLIENTS,
    DOCS,
    DOCUMENTS,
    ENTITIES,
    INVOICES,
    KEYS,
    MAILS,
    PEOPLE,
    TAX,
    USAGE,
    WEBHOOKS,
)

Group = Literal["Overview", "Books", "Documents", "Property", "Investments", "Developers", "Administration"]
Audience = Literal["owner", "admin", "member", "", "instance"]
"""A role in the chosen organization; "": who has chosen none; "instance": who runs the server, whatever their role."""

EVERYBODY: Final[frozenset[Audience]] = frozenset({"owner", "admin", "member", ""})
MEMBERS: Final[frozenset[Audience]] = frozenset({"owner", "admin", "member"})
LEADERS: Final[frozenset[Audience]] = frozenset({"owner", "admin"})
INSTANCE: Final[frozenset[Audience]] = frozenset({"instance"})


class Entry(NamedTuple):
    """A page of the rail. `roles`: who sees it; the page itself decides who may."""

    label: str
    href: str
    group: Group
    roles: frozenset[Audience] = EVERYBODY


class Shelf(NamedTuple):
    """A group as somebody sees it. `name` is empty for the first, which needs no heading."""

    name: str
    entries: Sequence[Entry]


ENTRIES: Final = (
    Entry("Overview", "/", "Overview"),
    Entry("People", PEOPLE, "Overview", MEMBERS),
    Entry("Legal entities", ENTITIES, "Books", MEMBERS),
    Entry("Clients", CLIENTS, "Books", MEMBERS),
    Entry("Invoices", INVOICES, "Books", MEMBERS),
    Entry("Mails to clients", MAILS, "Books", MEMBERS),
    Entry("All documents", DOCUMENTS, "Documents", MEMBERS),
    Entry("API keys", KEYS, "Developers", MEMBERS),
    Entry("Webhooks", WEBHOOKS, "Developers", MEMBERS),
    Entry("Connected apps", APPS, "Developers"),
    Entry("Open access", ACCESS, "Developers"),
    Entry("Tax access", TAX, "Developers"),
    Entry("Usage", USAGE, "Developers"),
    Entry("API reference", DOCS, "Developers"),
    Entry("Organizations", ADMIN_ORGANIZATIONS, "Administration", INSTANCE),
    Entry("People", ADMIN_PEOPLE, "Administration", INSTANCE),
    Entry("OAuth clients", ADMIN_CLIENTS, "Administration", INSTANCE),
    Entry("Tax approvals", ADMIN_TAX, "Administration", INSTANCE),
    Entry("Health", ADMIN_HEALTH, "Administration", INSTANCE),
    Entry("Jobs", ADMIN_JOBS, "Administration", INSTANCE),
    Entry("Backups", ADMIN_BACKUPS, "Administration", INSTANCE),
    Entry("Audit log", ADMIN_AUDIT, "Administration", INSTANCE),
)
"""The pages that exist, in the order in which they stand; those of a group stand together."""


def shelves(role: str, *, instance_admin: bool) -> list[Shelf]:
    """What somebody with this role in the chosen organization sees."""
    seen = [each for each in ENTRIES if role in each.roles or (instance_admin and "instance" in each.roles)]
    groups = dict.fromkeys(each.group for each in seen)
    return [Shelf("" if name == "Overview" else name, [e for e in seen if e.group == name]) for name in groups]


def current(path: str) -> str:
    """The address of the entry that a page belongs to: the longest that it begins with; empty: none."""
    there = [each.href for each in ENTRIES if path == each.href or path.startswith(each.href.rstrip("/") + "/")]
    return max((href for href in there if href != "/" or path == "/"), key=len, default="")
