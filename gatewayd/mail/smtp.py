"""Sessions with the server that takes our mail: `smtplib` on threads, over connections that the loop has made.

Each answer has its deadline, and so has all of an attempt: past it the socket is shut down, which ends what the thread
waits for. A session that has brought a mail may bring the next; the server may end it at any time in between.
"""

import contextlib
import os
import smtplib
import socket
import ssl
from enum import StrEnum
from functools import partial
from typing import Final, NamedTuple

import trio

from gatewayd.mail.letters import one_line
from gatewayd.mail.messages import Envelope
from gatewayd.mail.outbox import ANSWER_MAX
from gatewayd.mail.settings import MailSettings
from gatewayd.outbound.addresses import parse_networks
from gatewayd.outbound.errors import OutboundError
from gatewayd.outbound.transport import GuardedTransport, Policy

ANYWHERE: Final = ("0.0.0.0/0", "::/0")
"""The operator names the server, which may well be in their own network."""
MAILS_PER_SESSION: Final = 50  # Chosen: many servers take no more
IDLE_SECONDS: Final = 5.0  # Chosen: RFC 5321 §4.5.3.2.7 lets a server wait five minutes, and many don't
OPENING_STEPS: Final = 2  # Chosen: as much time as so many answers, from the name to who we are
QUIT_SECONDS: Final = 2.0  # Chosen
CLOSING: Final = 421  # RFC 5321 §4.2.2: not about the mail; the server ends the session
OUR_SIDE: Final = frozenset({530, 534, 535, 538})  # RFC 4954 §6: who we are, or how we say so
FULL: Final = 552  # RFC 5321 §4.5.3.1.10: at RCPT it means 452


class Verdict(StrEnum):
    """What an answer means for the mail."""

    SENT = "sent"
    BOUNCED = "bounced"  # the server takes nothing for this recipient
    REFUSED = "refused"  # it does not take this mail
    LATER = "later"  # it may take it another time
    TROUBLE = "trouble"  # nothing about the mail: the server is out of reach, or does not let us in


class SmtpResult(NamedTuple):
    """What became of an attempt. `code` None: the server answered nothing, and `answer` says what went wrong."""

    verdict: Verdict
    code: int | None
    answer: str


class SmtpError(Exception):
    """Why an attempt came to nothing."""

    def __init__(self, verdict: Verdict, code: int | None, answer: str) -> None:
        super().__init__(answer)
        self.result = SmtpResult(verdict, code, answer)


class _EndedBetween(Exception):
    """A session that the server had ended before it was told anything of the mail."""


class _Client(smtplib.SMTP):
    """A client over a socket that is connected already."""

    def __init__(self, connected: socket.socket, settings: MailSettings) -> None:
        self._connected = connected
        super().__init__(settings.host, settings.port, settings.greeting, settings.timeout_seconds)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        return self._connected


class Session:
    """A session that is open, and not used by two at a time. Its thread closes it, and nobody else."""

    def __init__(self, client: _Client, handle: socket.socket) -> None:
        """`handle` is another descriptor of the connection, by which it can be ended from beside the thread."""
        self._client = client
        self._handle = handle
        self._mails = 0
        self.idle_since = 0.0

    @property
    def is_open(self) -> bool:
        """Whether it was not closed here."""
        return self._client.sock is not None

    @property
    def is_good(self) -> bool:
        """Whether another mail may go by it."""
        waited = trio.current_time() - self.idle_since
        return self.is_open and self._mails < MAILS_PER_SESSION and waited < IDLE_SECONDS

    def deliver(self, envelope: Envelope) -> None:
        """Hand one mail over. Blocks. Raises `SmtpError`, after which the session may be good still, or
        `_EndedBetween`.
        """
        reused = self._mails > 0
        self._mails += 1
        try:
            _begin_mail(self._client, envelope, reused=reused)
            _rest_of_mail(self._client, envelope)
        except SmtpError as error:
            self._go_back(error)
            raise
        except _EndedBetween:
            self.close()
            raise
        except (OSError, smtplib.SMTPException, ValueError) as error:
            self.close()
            raise _failure(error, Verdict.LATER) from error

    def quit(self) -> None:
        """End it as one does. Blocks, for `QUIT_SECONDS` at most."""
        with contextlib.suppress(OSError, smtplib.SMTPException):
            if self._client.sock is not None:
                self._client.sock.settimeout(QUIT_SECONDS)
                self._client.quit()
        self.close()

    def close(self) -> None:
        """End it at once."""
        self._client.close()
        self._handle.close()

    def abandon(self) -> None:
        """End it from beside the thread that uses it, which closes it then."""
        _shut_down(self._handle)

    def _go_back(self, error: SmtpError) -> None:
        """To where the next mail may begin."""
        try:
            if error.result.code == CLOSING or self._client.rset()[0] != 250:
                self.close()
        except (OSError, smtplib.SMTPException):
            self.close()


class SmtpServer:
    """The server, as it is reached. For one event loop; sessions are made and used on threads of its own."""

    def __init__(self, settings: MailSettings) -> None:
        self._settings = settings
        self._transport = GuardedTransport(Policy(allow_networks=parse_networks(ANYWHERE)))
        self._threads = trio.CapacityLimiter(settings.connections + 1)
        self._idle: list[Session] = []

    @property
    def idle(self) -> int:
        """How many sessions wait for a mail."""
        return len(self._idle)

    async def send(self, envelope: Envelope) -> SmtpResult:
        """One attempt, within its time. Never raises for anything that server or network can do."""
        with trio.move_on_after(self._settings.attempt_seconds):
            try:
                return await self._send(envelope)
            except SmtpError as error:
                return error.result
        spent = f"{self._settings.attempt_seconds:g}"
        return SmtpResult(Verdict.LATER, None, f"The server had not taken it after {spent} seconds.")

    async def greet(self) -> None:
        """Open a session, sign in, and end it. Raises `SmtpError`."""
        await self._end(await self._open())

    async def sweep(self) -> None:
        """End sessions that have waited for long."""
        tired = [each for each in self._idle if not each.is_good]
        self._idle = [each for each in self._idle if each not in tired]
        for session in tired:
            await self._end(session)

    async def aclose(self) -> None:
        """End all of them."""
        idle, self._idle = self._idle, []
        for session in idle:
            await self._end(session)

    async def _send(self, envelope: Envelope) -> SmtpResult:
        """Raises `SmtpError`."""
        while self._idle:
            session = self._idle.pop()
            if session.is_good:
                with contextlib.suppress(_EndedBetween):
                    return await self._deliver(session, envelope)
            else:
                await self._end(session)
        return await self._deliver(await self._open(), envelope)

    async def _deliver(self, session: Session, envelope: Envelope) -> SmtpResult:
        """Raises `SmtpError` or `_EndedBetween`."""
        over = False
        try:
            await trio.to_thread.run_sync(session.deliver, envelope, limiter=self._threads, abandon_on_cancel=True)
            over = True
        except (SmtpError, _EndedBetween):
            over = True
            raise
        finally:
            if not over:
                session.abandon()
            elif session.is_open:
                session.idle_since = trio.current_time()
                self._idle.append(session)
            else:
                session.close()
        return SmtpResult(Verdict.SENT, 250, "")

    async def _open(self) -> Session:
        """Within twice the time of an answer. Raises `SmtpError`."""
        with trio.move_on_after(OPENING_STEPS * self._settings.timeout_seconds):
            return await self._opened()
        raise SmtpError(Verdict.TROUBLE, None, "The server did not answer in time.")

    async def _opened(self) -> Session:
        """Raises `SmtpError`."""
        settings = self._settings
        try:
            stream = await self._transport.open_tcp(settings.host, settings.port)
        except OutboundError as error:
            raise SmtpError(Verdict.TROUBLE, None, f"The server cannot be reached: {error.detail}.") from error
        with stream.socket:
            connected = socket.socket(fileno=os.dup(stream.socket.fileno()))
        handle, over = connected.dup(), False
        try:
            work = partial(_open_client, connected, settings)
            client = await trio.to_thread.run_sync(work, limiter=self._threads, abandon_on_cancel=True)
            over = True
        except SmtpError:
            handle.close()
            over = True
            raise
        finally:
            if not over:
                _shut_down(handle)
        session = Session(client, handle)
        session.idle_since = trio.current_time()
        return session

    async def _end(self, session: Session) -> None:
        over = False
        try:
            await trio.to_thread.run_sync(session.quit, limiter=self._threads, abandon_on_cancel=True)
            over = True
        finally:
            if not over:
                session.abandon()


def _open_client(connected: socket.socket, settings: MailSettings) -> _Client:
    """Greet, encrypt and sign in. Blocks. Raises `SmtpError`, and then the connection is closed."""
    connected.settimeout(settings.timeout_seconds)
    client: _Client | None = None
    good = False
    try:
        context = None if settings.security == "none" else _context(settings)
        if context is not None and settings.security == "tls":
            connected = context.wrap_socket(connected, server_hostname=settings.host)
        client = _Client(connected, settings)
        client.ehlo_or_helo_if_needed()
        if context is not None and settings.security == "starttls":
            _start_tls(client, context)
        if settings.user:
            _sign_in(client, settings.user, settings.password())
        good = True
    except (OSError, smtplib.SMTPException, ValueError) as error:
        raise _failure(error, Verdict.TROUBLE) from error
    finally:
        if not good:
            if client is not None:
                client.close()
            connected.close()
    return client


def _start_tls(client: _Client, context: ssl.SSLContext) -> None:
    """Raises `SmtpError` where the server does not offer it: nothing is said in the clear instead."""
    if not client.has_extn("starttls"):
        raise SmtpError(Verdict.TROUBLE, None, "The server offers no STARTTLS, and nothing is sent without it.")
    code, answer = client.starttls(context=context)
    if code != 220:
        raise SmtpError(Verdict.TROUBLE, code, _text(answer))
    client.ehlo_or_helo_if_needed()


def _sign_in(client: _Client, user: str, password: str) -> None:
    """By one mechanism, the first that both know: some servers end the session after one wrong password."""
    offered = client.esmtp_features.get("auth", "").upper().split()
    client.user, client.password = user, password
    if "PLAIN" in offered:
        client.auth("PLAIN", client.auth_plain)
    elif "LOGIN" in offered:
        client.auth("LOGIN", client.auth_login)
    elif "CRAM-MD5" in offered:
        client.auth("CRAM-MD5", client.auth_cram_md5)
    else:
        raise SmtpError(Verdict.TROUBLE, None, "The server offers no way to sign in that we know.")


def _context(settings: MailSettings) -> ssl.SSLContext:
    """Raises `OSError`."""
    context = ssl.create_default_context(cafile=settings.ca_file)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _begin_mail(client: _Client, envelope: Envelope, *, reused: bool) -> None:
    """MAIL. Raises as `Session.deliver`."""
    if envelope.utf8 and not client.has_extn("smtputf8"):
        raise SmtpError(Verdict.BOUNCED, None, "The server takes no address with letters outside ASCII.")
    options = [f"SIZE={len(envelope.content)}"] if client.has_extn("size") else []
    if envelope.utf8:
        options += ["SMTPUTF8", "BODY=8BITMIME"]
    try:
        code, answer = client.mail(envelope.sender, options)
    except (OSError, smtplib.SMTPServerDisconnected) as error:
        if reused and not any(isinstance(each, TimeoutError) for each in (error, error.__context__)):
            raise _EndedBetween from error
        raise
    if code == CLOSING and reused:
        raise _EndedBetween
    if code != 250:
        raise SmtpError(_verdict(code, Verdict.REFUSED), code, _text(answer))


def _rest_of_mail(client: _Client, envelope: Envelope) -> None:
    """RCPT and DATA. Raises as `Session.deliver`."""
    code, answer = client.rcpt(envelope.recipient)
    if code not in (250, 251, 252):
        verdict = Verdict.LATER if code == FULL else _verdict(code, Verdict.BOUNCED)
        raise SmtpError(verdict, code, _text(answer))
    try:
        code, answer = client.data(envelope.content)
    except smtplib.SMTPDataError as error:  # it did not want to hear it
        verdict = _verdict(error.smtp_code, Verdict.REFUSED)
        raise SmtpError(verdict, error.smtp_code, _text(error.smtp_error)) from error
    if code != 250:
        raise SmtpError(_verdict(code, Verdict.REFUSED), code, _text(answer))


def _verdict(code: int, permanent: Verdict) -> Verdict:
    if code == CLOSING or code in OUR_SIDE:
        return Verdict.TROUBLE
    return permanent if 500 <= code < 600 else Verdict.LATER


def _failure(error: Exception, verdict: Verdict) -> SmtpError:
    """What the libraries raise, in words. A refusal while the session is opened says nothing about the mail."""
    if isinstance(error, SmtpError):
        return error
    if isinstance(error, smtplib.SMTPResponseException):
        return SmtpError(Verdict.TROUBLE, error.smtp_code, _text(error.smtp_error))
    if isinstance(error, TimeoutError) or isinstance(error.__context__, TimeoutError):  # smtplib hides it
        return SmtpError(verdict, None, "The server did not answer in time.")
    if isinstance(error, ssl.SSLCertVerificationError):
        return SmtpError(Verdict.TROUBLE, None, f"The server's certificate is not good: {error.verify_message}.")
    if isinstance(error, ssl.SSLError):
        return SmtpError(verdict, None, f"TLS with the server failed: {error.reason or error}.")
    if isinstance(error, smtplib.SMTPServerDisconnected | ConnectionError):
        return SmtpError(verdict, None, "The server ended the connection.")
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return SmtpError(verdict, None, f"The server cannot do what is needed: {_text(str(error))}")
    if isinstance(error, UnicodeError):
        return SmtpError(Verdict.TROUBLE, None, "The user or the password has letters that AUTH cannot carry.")
    if isinstance(error, OSError):
        return SmtpError(verdict, None, f"{error.filename or 'The connection'}: {error.strerror or error}.")
    return SmtpError(verdict, None, _text(str(error)))


def _text(answer: bytes | str) -> str:
    """What a server said, in one line."""
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    return one_line(text, ANSWER_MAX)


def _shut_down(handle: socket.socket) -> None:
    """Ends a connection under whoever waits for it."""
    with contextlib.suppress(OSError):
        handle.shutdown(socket.SHUT_RDWR)
    handle.close()
