"""Keys, calls and connections of an organization, for the pages about taxes."""

import secrets
from typing import NamedTuple

from gatewayd.identity import audit
from gatewayd.identity.audit import AuditEntry
from gatewayd.identity.key_format import RANDOM_BYTES
from gatewayd.identity.keys import api_keys
from gatewayd.tax import approvals
from gatewayd.tax.approvals import Standing, Subject, TaxRequest
from gatewayd.tax.connections import connections
from gatewayd.tax.connections.connections import Tokens
from gatewayd.tax.sessions import call_log
from gatewayd.tax.sessions.call_log import TaxCall
from tests.console.visiting import Answer, Browser, Site

PAGE, ADMIN = "/developers/tax", "/admin/tax"
DECLARED = "We send all sixteen headers.\nSigned: Ann <Oak> & Sons, 20 Nov."


class Line(NamedTuple):
    """What the audit log says."""

    actor: str
    action: str
    subject: str
    org_id: str | None


async def key(site: Site, *scopes: str, name: str = "Shop", org_id: str = "", user_id: str = "") -> str:
    """Make a key; answers its id. Of Ann and her organization where nobody is named."""
    new = api_keys.NewKey(name=name, user_id=user_id or site.user_id, scopes=scopes)
    random = secrets.token_bytes(RANDOM_BYTES)
    made = await site.store.write(lambda tx: api_keys.create(tx, new, random, "operator"), org_id or site.org_id)
    return made.id


async def ask(site: Site, subject: Subject, declared: str | None = DECLARED, by: str = "") -> TaxRequest:
    return await site.store.write(lambda tx: approvals.request(tx, subject, declared, by or site.user_id))


async def approve(site: Site, subject: Subject) -> None:
    await site.store.write(lambda tx: approvals.approve(tx, subject, None, audit.OPERATOR))


async def standing(site: Site, subject: Subject) -> Standing:
    return await site.store.read(lambda tx: approvals.standing(tx, subject))


async def connect(site: Site, org_id: str = "", *, scope: str = "read:vat", expires_in: int | None = None) -> None:
    """As the command line does it; without `expires_in` the grant lasts for eighteen months."""
    refresh = "again" if expires_in is None else None
    tokens = Tokens("planted-access", refresh, scope, expires_in)
    await site.store.write(lambda tx: connections.save(tx, tokens, audit.OPERATOR), org_id or site.org_id)


async def called(site: Site, number: int, status: int = 200, code: str | None = None) -> None:
    """One more call; where it has a code, the authority was not asked."""
    correlation_id = None if code else f"corr-{number}"
    call = TaxCall(f"req_{number}", "key_1", None, "vat.getObligations", status, code, correlation_id, 12)
    await site.store.write(lambda tx: call_log.record(tx, call), site.org_id)


async def lines(site: Site, word: str = "tax") -> list[Line]:
    """The audit log about taxes, the oldest first."""
    entries = await site.store.read(audit.list_all)
    return [_line(entry) for entry in reversed(entries) if word in entry.action]


def _line(entry: AuditEntry) -> Line:
    return Line(entry.actor, entry.action, entry.subject, entry.org_id)


async def request(browser: Browser, site: Site, subject: Subject, declared: str = DECLARED) -> Answer:
    """Ask for whatever subject, whether or not the page offers it."""
    values = {"subject": f"{subject.kind}:{subject.id}", "attestation": declared, "organization": site.org_id}
    return await browser.post(f"{PAGE}/request", {"csrf": await token(browser), **values})


async def token(browser: Browser) -> str:
    """What the forms of this browser carry."""
    return (await browser.open("/account")).token
