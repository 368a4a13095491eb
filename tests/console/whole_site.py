"""All of the pages over the firm of the demo, with somebody of every kind, and more of everything that pages show."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from soft_webauthn import SoftWebauthnDevice

from gatewayd.areas.accounting import paper_links
from gatewayd.areas.vault.documents.uploads import Settings
from gatewayd.clock import from_wire
from gatewayd.console.app import create
from gatewayd.console.parts import ConsoleParts
from gatewayd.identity.clients import own_clients
from gatewayd.identity.clients.own_clients import NewClient
from gatewayd.identity.people import invitations, memberships, organizations, suspensions, users
from gatewayd.identity.people.invitations import NewInvitation
from gatewayd.identity.sign_in import one_time_links, passkeys, throttling
from gatewayd.identity.sign_in.passwords import Passwords
from gatewayd.identity.sign_in.sessions import Visitor
from gatewayd.identity.sign_in.sign_in import SignIn
from gatewayd.identity.sign_in.throttling import Limits
from gatewayd.mail.notices import Mailing
from gatewayd.papers.engine import Papers
from gatewayd.papers.public import PublicPapers
from gatewayd.performing.admission import Gate
from gatewayd.performing.file_places import FilePlaces
from gatewayd.performing.performer import Performer
from gatewayd.performing.rate_limits import RateLimits
from gatewayd.store import WriteTx
from gatewayd.store.files.at_place import blobs_at, partials_at
from gatewayd.store.files.incoming_files import incoming_folder
from gatewayd.tax.approvals import Subject
from gatewayd.tax.settings import TaxSettings
from gatewayd.vault_files.receiving import Receiving
from tests.console import taxing
from tests.console.granting import grant
from tests.console.instances import Told
from tests.console.visiting import (
    ATTEMPTS,
    COMPILED_TEMPLATES,
    FILE_MOST,
    ISSUER,
    PASSWORD_HASH,
    Browser,
    Site,
    Written,
)
from tests.contract.conftest import Seeded, engines_of
from tests.contract.rows import OPERATIONS
from tests.identity.test_passkeys import CHALLENGE, PARTY, as_json, options_of
from tests.support.api import Tuning, reopen_api
from tests.support.engines import Engines
from tests.support.passwords import quick_hasher
from tests.support.rows import CATALOGUE
from tests.support.store import START

NOW: Final = "2026-11-20T10:00:00Z"
"""When they come: after the last scene of the demo."""
OWNER, ADMIN, MEMBER = "ann@oakandson.example", "fay@fern.example", "ben@oakandson.example"
ELSEWHERE, ROOT = "olga@elm.example", "gil@moss.example"
OF_THE_FIRM: Final = (OWNER, ADMIN, MEMBER)
"""The second owns a practice too."""
PEOPLE: Final = (*OF_THE_FIRM, ELSEWHERE, ROOT)
"""And somebody of another firm, and who runs the server, who belongs to none."""
FILTERED: Final = ("/documents?status=deleted",)
"""Lists of the owner's with what is found by a filter alone."""

_EVERYBODY_SIGNS_IN = "UPDATE users SET password_hash = :hash, instance_admin = (email = :root)"


@dataclass(eq=False)
class WholeSite:
    """`site.user_id` and `site.org_id` are the owner and the firm.

    `browsers` are of each of `PEOPLE`, who have just signed in; `stranger` is of nobody, and `halfway` of who has given
    the password, and not yet the code. `unlinked` are addresses by the rules of pages to which no page leads: programs,
    people and links from elsewhere do. `invitation` is one to the firm, of `ELSEWHERE`.
    """

    site: Site
    browsers: dict[str, Browser]
    stranger: Browser
    halfway: Browser
    unlinked: dict[str, str]
    invitation: str


@asynccontextmanager
async def open_whole_site(demo: Seeded, directory: Path) -> AsyncIterator[WholeSite]:
    """The pages over a copy of the demo's firm."""
    shutil.copytree(demo.directory, directory, dirs_exist_ok=True)
    engines, log = Engines(), Written()
    async with (
        reopen_api(directory, OPERATIONS, Tuning(deps=engines)) as api,
        engines_of(api, directory, engines),
    ):
        api.clock.advance(from_wire(NOW) - START)
        passwords, told = Passwords(quick_hasher()), Told(api.store)
        parts = ConsoleParts(
            store=api.store,
            sign_in=SignIn(api.store, passwords, Limits(ATTEMPTS)),
            passwords=passwords,
            issuer=ISSUER,
            tax=TaxSettings(mode="hmrc", client_id="app"),
            mailing=Mailing(ISSUER),
            clock=api.clock,
            log=log,
            operations=CATALOGUE.operations,
            performer=Performer(api.store, engines),
            gate=Gate(RateLimits(0, 100)),
            instance=told.daemon,
            file_places=FilePlaces(folder=incoming_folder(directory), max_bytes={"vault": FILE_MOST}),
            receiving=Receiving(
                api.store, blobs_at(api.store.place), partials_at(api.store.place), Settings(ISSUER, FILE_MOST)
            ),
            papers=PublicPapers(api.store, _papers_of(engines), RateLimits(0, 100)),
            gallery=True,
        )
        site = Site(create(parts), api.store, api.clock, log, told, directory)
        site.app.jinja_env.bytecode_cache = COMPILED_TEMPLATES
        await _add_the_rest(site)
        browsers = {email: await site.signed_in(email) for email in PEOPLE}
        await site.signed_in(OWNER)  # a second browser of hers, which the first can sign out
        await site.second_factor()
        halfway = site.browser()
        assert (await halfway.sign_in(email=OWNER)).location.startswith("/sign-in/code")
        unlinked = await _unlinked(site, browsers[OWNER])
        yield WholeSite(site, browsers, site.browser(), halfway, unlinked, await _invite(site, ELSEWHERE))
        assert log.errors == []


def _papers_of(engines: Engines) -> Papers:
    assert engines.papers is not None
    return engines.papers


async def _add_the_rest(site: Site) -> None:
    """What the demo has not, and pages show."""
    device = SoftWebauthnDevice()

    def add(tx: WriteTx) -> tuple[str, str, str]:
        tx.run(_EVERYBODY_SIGNS_IN, hash=PASSWORD_HASH, root=ROOT)
        ann = users.find(tx, OWNER)
        assert ann is not None
        (firm,) = memberships.of_user(tx, ann.id)
        tx.bind(firm.org_id)
        invitations.make(tx, NewInvitation("new@example.com", "member", ann.id))
        answer = as_json(device.create(options_of(passkeys.registration_options(PARTY, ann, [], CHALLENGE)), ISSUER))
        passkeys.register(tx, PARTY, ann.id, "Laptop", answer, CHALLENGE)
        return ann.id, firm.org_id, _person(tx, ELSEWHERE, "Olga Elm")

    def administrate(tx: WriteTx) -> None:
        own_clients.register(tx, NewClient(name="Till", redirect_uris=[f"{ISSUER}/till"], kind="secret"), "operator")
        suspensions.suspend(tx, organizations.create(tx, "Ash & Ash", "operator").id, "Not paid", "operator")
        users.disable(tx, _person(tx, "disabled@example.com", "Dee Disabled"), "operator")
        _person(tx, "locked@example.com", "Lee Locked")
        for _ in range(ATTEMPTS):
            throttling.note_try(
                tx, "locked@example.com", Visitor(user_agent="A program", address="127.0.0.1"), Limits(ATTEMPTS)
            )

    site.user_id, site.org_id, olga = await site.store.write(add)
    await site.add_org("Elm & Daughters", olga)
    await site.store.write(administrate)
    await grant(site)
    await taxing.connect(site)
    approved = Subject("key", await taxing.key(site, "tax:read"))
    await taxing.ask(site, approved)
    await taxing.approve(site, approved)


def _person(tx: WriteTx, email: str, name: str) -> str:
    return users.create(tx, users.NewUser(email=email, name=name, password_hash=PASSWORD_HASH), "operator").id


async def _unlinked(site: Site, owner: Browser) -> dict[str, str]:
    """See `WholeSite`. The owner has chosen the account for an app that asks."""
    sign_in = await site.store.write(lambda tx: one_time_links.make(tx, site.user_id, "sign_in"))
    reset = await site.store.write(lambda tx: one_time_links.make(tx, site.user_id, "reset_password"))
    handle = await site.ask()
    choose = f"/oauth/choose?request={handle}"
    consent = (await owner.submit(await owner.open(choose), "/oauth/choose")).location
    return {
        "/sign-in": "/sign-in?again=1",
        "/sign-in/code": "/sign-in/code",
        "/sign-in/forgotten": "/sign-in/forgotten",
        "/sign-in/link/<token>": f"/sign-in/link/{sign_in}",
        "/sign-in/reset/<token>": f"/sign-in/reset/{reset}",
        "/sign-in/invitation/<token>": await _invite(site, "nobody-yet@example.com"),
        "/oauth/choose": choose,
        "/oauth/consent": consent,
        "/developers/tax/connected": "/developers/tax/connected",
        "/admin": "/admin",
        "/gallery": "/gallery",
        "/gallery/list": "/gallery/list",
        "/i/<token>": await _paper(site),
        "/i/<token>/<any(invoice, quote):_kind>.pdf": f"{await _paper(site)}/invoice.pdf",
        "/static/<path:filename>": "/static/style.css",
    }


async def _paper(site: Site) -> str:
    """Where a client sees a quote that they may accept."""

    def make(tx: WriteTx) -> str:
        quote_id = tx.value("SELECT min(id) FROM quotes WHERE org_id = :org_id AND state = 'sent'")
        return paper_links.link_of(tx, "", quote_id)

    return await site.store.write(make, site.org_id)


async def _invite(site: Site, email: str) -> str:
    """Where somebody joins the firm."""
    wanted = NewInvitation(email, "member", site.user_id)
    _, token = await site.store.write(lambda tx: invitations.make(tx, wanted), site.org_id)
    return f"/sign-in/invitation/{token}"
