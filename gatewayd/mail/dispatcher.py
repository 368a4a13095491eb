"""Carries mails from the outbox to the server, in the loop of `sending`.

A failure that says nothing about a mail, such as a server that is out of reach, holds all of them for a while, and then
one goes ahead: a thousand mails are not tried one by one at a server that is down.

What an attempt leaves behind that could not be recorded is due when its lease ends, or at the next start.
"""

import random
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import trio

from gatewayd.clock import Clock, Instant
from gatewayd.contract.given_files import WrittenFile
from gatewayd.errors import Problem
from gatewayd.http1.log import Log, Outage
from gatewayd.mail import claims, outbox, schedule
from gatewayd.mail.claims import FIRST, Claim, Claimed, Ended, Room
from gatewayd.mail.letters import Letter
from gatewayd.mail.messages import AddressError, Envelope, Outgoing, make_envelope
from gatewayd.mail.settings import ATTACH_SECONDS, MailSettings
from gatewayd.mail.smtp import SmtpResult, Verdict
from gatewayd.sending import LOOK_AGAIN_SECONDS, Outbox, SendingLoop
from gatewayd.store import StoreFailure, WriteTx

INTERNAL: Final = "It failed on our side: the log says more."
STOPPED: Final = "We were stopped meanwhile."
SLOW: Final = "Its PDF could not be made in time."
ATTACHMENT_BYTES_MAX: Final = 8 << 20
"""Chosen: in base64 11 MiB, which servers take; a larger file is not attached, and its link says where it is."""
PASSING: Final = frozenset({"rate_limited", "unavailable"})
"""What keeps a paper from being made now and not later."""
_LONG: Final = re.compile(r"[\w-]{20,}")
"""What of a link may be secret."""
_ADDRESS: Final = re.compile(r"\S+@\S+")


Attach = Callable[[str, str], Awaitable[WrittenFile]]
"""Gives the PDF of a paper, by the ids of its organization and its own. Raises `Problem`."""


class Server(Protocol):
    """What the dispatcher needs of the server: one attempt, within its own deadline."""

    async def send(self, envelope: Envelope) -> SmtpResult: ...

    async def sweep(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MailParts:
    """What a dispatcher is made of. `holder` is the id of this process; `fraction` draws the jitter, from [0, 1).

    `attach` None: letters that are to have a paper with them go without.
    """

    store: Outbox
    server: Server
    holder: str
    clock: Clock
    settings: MailSettings
    log: Log
    fraction: Callable[[], float] = random.random
    attach: Attach | None = None


@dataclass(slots=True)
class _Standing:
    """How it stands with the server. `failures` in a row that say nothing about a mail; `until` on trio's clock."""

    failures: int = 0
    until: float = 0.0


class MailDispatcher(SendingLoop[Claim, Ended]):
    """The one reader of the outbox in this process."""

    def __init__(self, parts: MailParts) -> None:
        super().__init__(parts.store, outbox.TOPIC, parts.clock, parts.settings.stop_seconds)
        self._server = parts.server
        self._holder = parts.holder
        self._settings = parts.settings
        self._log = parts.log
        self._fraction = parts.fraction
        self._attach = parts.attach
        self._standing = _Standing()
        self._recording = Outage(parts.log, "mails_not_recorded", "mails_recorded_again")
        self._released = False
        self._after = FIRST

    # -- a round

    def _id_of(self, claim: Claim) -> str:
        return claim.mail_id

    async def _record_and_claim(self, ended: list[Ended]) -> tuple[Sequence[Claim], Instant | None]:
        under_way = {claim.mail_id: claim.queue for claim in self._claims.values()}
        room = Room(self._holder, self._free(), under_way, self._after)

        def work(tx: WriteTx) -> Claimed:
            at = self._clock.now()
            if not self._released:
                claims.release_former(tx, self._holder, at)
            claims.record(tx, ended, self._holder, at)
            return claims.claim_due(tx, room, self._settings, at)

        claimed = await self._store.write(work)
        self._recording.succeeded()
        self._released = True
        self._after = claimed.after
        for mail_id in claimed.given_up:
            self._log.warning("mail_given_up", mail_id=mail_id)
        return claimed.claims, claimed.next_due

    async def _record_last(self, ended: list[Ended]) -> None:
        await self._store.write(lambda tx: claims.record(tx, ended, self._holder, self._clock.now()))

    def _not_recorded(self, error: StoreFailure, waiting: int, *, last: bool) -> None:
        if last:
            self._log.error("mails_not_recorded", waiting=waiting, exc_info=error)
        else:
            self._recording.failed(error, waiting=waiting)

    async def _sweep(self) -> None:
        await self._server.sweep()

    def _free(self) -> int:
        """How many may begin: one while it is not known whether the server answers, none while it is left alone."""
        most = self._settings.connections
        if self._standing.failures:
            most = 1 if trio.current_time() >= self._standing.until else 0
        return max(0, most - len(self._claims))

    def _seconds_until(self, instant: Instant | None) -> float:
        paused = self._standing.until - trio.current_time()
        if self._standing.failures and paused > 0:
            return min(paused, LOOK_AGAIN_SECONDS)
        return super()._seconds_until(instant)

    # -- one attempt

    def _end_by_stop(self, claim: Claim, began: float) -> Ended:
        return Ended(claim, "interrupted", self._clock.now(), None, STOPPED, _since(began))

    def _end_by_error(self, claim: Claim, error: Exception, began: float) -> Ended:
        self._log.error("mail_failed_here", **_log_fields(claim), exc_info=error)
        return Ended(claim, "retried", self._next(claim), None, INTERNAL, _since(began))

    async def _send(self, claim: Claim) -> Ended:
        if claim.letter is None:
            self._log.error("mail_not_opened", **_log_fields(claim))
            return claims.unopened(claim)
        began = trio.current_time()
        try:
            attachment = await self._attachment(claim.org_id, claim.letter)
        except Problem as problem:
            self._log.info("mail_not_attached", **_log_fields(claim), reason=problem.code)
            due_at = self._next(claim) if problem.code in PASSING else None
            return Ended(claim, "retried", due_at, None, problem.message, _since(began))
        who = (claim.recipient, claim.recipient_name)
        outgoing = Outgoing(claim.mail_id, claim.created_at, *who, claim.letter, attachment)
        try:
            envelope = make_envelope(outgoing, self._settings.sender, self._settings.sender_name)
        except AddressError as error:
            return self._ended_of(claim, SmtpResult(Verdict.BOUNCED, None, str(error)), 0)
        began = trio.current_time()
        result = await self._server.send(envelope)
        return self._ended_of(claim, result._replace(answer=_hidden(result.answer, claim.letter)), _since(began))

    async def _attachment(self, org_id: str | None, letter: Letter) -> WrittenFile | None:
        """What goes with it. Raises `Problem`: why it cannot be had, which is for a while where `PASSING` has it."""
        if not letter.paper or org_id is None or self._attach is None:
            return None
        with trio.move_on_after(ATTACH_SECONDS):
            file = await self._attach(org_id, letter.paper)
            return file if len(file.content) <= ATTACHMENT_BYTES_MAX else None
        raise Problem("unavailable", SLOW)

    def _ended_of(self, claim: Claim, result: SmtpResult, duration_ms: int) -> Ended:
        self._note_standing(result)
        values = {**_log_fields(claim), "response_code": result.code}
        code, answer = result.code, result.answer or None
        match result.verdict:
            case Verdict.SENT:
                self._log.info("mail_sent", **values)
                return Ended(claim, "sent", None, code, answer, duration_ms)
            case Verdict.BOUNCED:
                self._log.warning("mail_bounced", **values)
                return Ended(claim, "bounced", None, code, answer, duration_ms)
            case Verdict.REFUSED:
                self._log.warning("mail_refused", **values)
                return Ended(claim, "failed", None, code, answer, duration_ms)
            case _:
                due_at = self._next(claim)
                self._log.info("mail_attempt_failed", **values)
                return Ended(claim, "retried", due_at, code, answer, duration_ms)

    def _next(self, claim: Claim) -> Instant:
        return schedule.next_attempt(self._settings, claim.number, self._clock.now(), self._fraction())

    def _note_standing(self, result: SmtpResult) -> None:
        """Leave the server alone for a while that is in trouble; more than one attempt that was under way is one."""
        if result.verdict is not Verdict.TROUBLE:
            if self._standing.failures:
                self._log.info("mail_server_answers_again")
            self._standing = _Standing()
            return
        if trio.current_time() < self._standing.until:
            return
        failures = self._standing.failures + 1
        pause = schedule.pause_seconds(self._settings, failures, self._fraction())
        self._standing = _Standing(failures, trio.current_time() + pause)
        if failures == 1:
            self._log.error(
                "mail_server_in_trouble", reason=_ADDRESS.sub("[hidden]", result.answer), response_code=result.code
            )


def _since(began: float) -> int:
    return round((trio.current_time() - began) * 1000)


def _hidden(answer: str, letter: Letter) -> str:
    """What the server said, without what it repeats of a link: filters quote what they do not like."""
    link = letter.action.url if letter.action is not None else ""
    return _LONG.sub(lambda found: "[hidden]" if found[0] in link else found[0], answer)


def _log_fields(claim: Claim) -> dict[str, object]:
    """Neither addresses nor subjects, which name people."""
    return {"mail_id": claim.mail_id, "kind": claim.kind, "organization": claim.org_id, "attempt": claim.number}
