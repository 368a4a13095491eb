"""`/account/second-factor`: the authenticator app and the recovery codes."""

from typing import Final

import segno
from quart import Quart, Response, render_template, request

from gatewayd.console.addresses import ACCOUNT
from gatewayd.console.browser import flash, recently_signed_in, see, value
from gatewayd.console.pages import Question, add_page, ask
from gatewayd.console.parts import PRODUCT, ConsoleParts
from gatewayd.identity.people.users import User
from gatewayd.identity.sign_in import second_factors
from gatewayd.store import ReadTx, WriteTx

PAGE: Final = f"{ACCOUNT}/second-factor"
OFF: Final = f"{PAGE}/off"
CODES: Final = f"{ACCOUNT}/recovery-codes"


class SecondFactor:
    """The pages of the second factor."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._clock = parts.clock
        self._store = parts.store
        self._issuer = parts.issuer

    def add_to(self, app: Quart) -> None:
        """Put the pages where they belong."""
        add_page(app, "GET", PAGE, self.show)
        add_page(app, "POST", PAGE, self.turn_on)
        add_page(app, "GET", OFF, self.ask_to_turn_off)
        add_page(app, "POST", OFF, self.turn_off)
        add_page(app, "GET", CODES, self.ask_to_renew_codes)
        add_page(app, "POST", CODES, self.renew_codes)

    async def show(self) -> Response | str:
        """The secret to scan: the same for a while, so that a page that is loaded again voids nothing."""
        _, user = recently_signed_in(self._clock)

        def work(tx: WriteTx) -> str | None:
            if second_factors.is_on(tx, user.id):
                return None
            return second_factors.find_proposal(tx, user.id) or second_factors.propose(tx, user.id)

        secret = await self._store.write(work)
        return see(ACCOUNT) if secret is None else await _page(user, secret, "")

    async def turn_on(self) -> Response | str | tuple[str, int]:
        _, user = recently_signed_in(self._clock)
        code = value(await request.form, "code", 64)
        codes = await self._store.write(lambda tx: second_factors.confirm(tx, user.id, code))
        if codes is not None:
            flash("success", "The authenticator app is on: signing in with a password takes a code from now on.")
            return await self._show_codes(user, codes)
        secret = await self._store.read(lambda tx: second_factors.find_proposal(tx, user.id))
        if secret is None:
            return see(PAGE)
        problem = "That code is not right. Check the clock of your phone and try the next one."
        return await _page(user, secret, problem), 422

    async def ask_to_turn_off(self) -> Response | str:
        _, user = recently_signed_in(self._clock)
        if not await self._store.read(lambda tx: second_factors.is_on(tx, user.id)):
            return see(ACCOUNT)
        consequences = [
            "Signing in with a password takes no code any more: whoever knows the password is in.",
            "The recovery codes that you kept stop working, and the entry in the app is of no use: delete it there.",
        ]
        return await ask(Question("Turn the authenticator app off?", consequences, "Turn off", ACCOUNT))

    async def turn_off(self) -> Response:
        _, user = recently_signed_in(self._clock)
        await self._store.write(lambda tx: second_factors.remove(tx, user.id, user.id))
        flash("success", "The authenticator app is off.")
        return see(ACCOUNT)

    async def ask_to_renew_codes(self) -> Response | str:
        _, user = recently_signed_in(self._clock)

        def look(tx: ReadTx) -> int | None:
            return second_factors.recovery_codes_left(tx, user.id) if second_factors.is_on(tx, user.id) else None

        left = await self._store.read(look)
        if left is None:
            return see(ACCOUNT)
        consequences = [f"The codes that you have now stop working: {left} that {'is' if left == 1 else 'are'} left."]
        return await ask(Question("Make new recovery codes?", consequences, "Make new codes", ACCOUNT))

    async def renew_codes(self) -> Response | str:
        _, user = recently_signed_in(self._clock)

        def work(tx: WriteTx) -> list[str] | None:
            return second_factors.renew_recovery_codes(tx, user.id) if second_factors.is_on(tx, user.id) else None

        codes = await self._store.write(work)
        return see(ACCOUNT) if codes is None else await self._show_codes(user, codes)

    async def _show_codes(self, user: User, codes: list[str]) -> str:
        """Once, with whose they are, where they count and since when: on paper nothing else would say it."""
        return await render_template(
            "people/recovery_codes.html", codes=codes, user=user, place=self._issuer, made_at=self._clock.now()
        )


async def _page(user: User, secret: str, problem: str) -> str:
    uri = second_factors.provisioning_uri(secret, user.email, PRODUCT)
    picture = segno.make(uri, error="m").svg_data_uri(scale=5, border=2, dark="#111", light="#fff")
    grouped = " ".join(secret[start : start + 4] for start in range(0, len(secret), 4))
    return await render_template("people/second_factor.html", picture=picture, secret=grouped, problem=problem)
