"""A letter as a message (RFC 5322): text and HTML, headers that no name can add to, bytes that every server takes.

The same mail makes the same bytes at each attempt, with one Message-ID, so that whoever gets it twice sees it once.
"""

import contextlib
import functools
import textwrap
from datetime import UTC, datetime
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from typing import TYPE_CHECKING, Final, NamedTuple

from gatewayd.clock import SECOND, Instant
from gatewayd.contract.given_files import WrittenFile
from gatewayd.mail.letters import Letter, one_line
from gatewayd.outbound.errors import TargetError
from gatewayd.outbound.targets import ascii_name

if TYPE_CHECKING:
    from jinja2 import Environment

WIDTH: Final = 76  # RFC 5322 §2.1.1 recommends 78 at most
NAME_MAX: Final = 120  # Chosen, characters


class AddressError(Exception):
    """An address that no mail can be sent to, in words."""


class Envelope(NamedTuple):
    """What the server is told. `utf8`: whether it has to know SMTPUTF8 (RFC 6531) for the recipient's address."""

    sender: str
    recipient: str
    utf8: bool
    content: bytes


class Outgoing(NamedTuple):
    """A mail on its way. `id` becomes its Message-ID, and `at` its Date: when it was written."""

    id: str
    at: Instant
    recipient: str
    recipient_name: str
    letter: Letter
    attachment: WrittenFile | None = None


def make_envelope(outgoing: Outgoing, sender: str, sender_name: str) -> Envelope:
    """Raises `AddressError`."""
    recipient, utf8 = address_for_smtp(outgoing.recipient)
    shown = _shown(outgoing.letter)
    utf8 = utf8 or any(not address.isascii() for addresses in shown.values() for address in addresses)
    message = _message(outgoing, recipient, (sender, sender_name), shown)
    content = message.as_bytes(policy=policy.SMTPUTF8 if utf8 else policy.SMTP)
    return Envelope(sender, recipient, utf8, content)


def address_for_smtp(address: str) -> tuple[str, bool]:
    """An address with its host in ASCII, and whether what is before it is not. Raises `AddressError`."""
    local, _, host = address.strip().rpartition("@")
    try:
        host = ascii_name(host)
        Address(username=local, domain=host)
    except (TargetError, ValueError, IndexError) as error:
        raise AddressError("No mail can be sent to such an address.") from error
    if not local or not host or any(not each.isprintable() or each in ' <>"\\()[]:;,@' for each in local):
        raise AddressError("No mail can be sent to such an address.")  # Chosen: no quoted ones, which nobody has
    return f"{local}@{host}", not local.isascii()


def _shown(letter: Letter) -> dict[str, list[str]]:
    """The addresses that a letter names beside its recipient, by their header fields. What is none is left out."""
    named = {"To": letter.to, "Cc": letter.cc, "Reply-To": (letter.reply_to,) if letter.reply_to else ()}
    shown: dict[str, list[str]] = {name: [] for name in named}
    for name, addresses in named.items():
        for address in addresses:
            with contextlib.suppress(AddressError):
                shown[name].append(address_for_smtp(address)[0])
    return shown


def _message(outgoing: Outgoing, recipient: str, sender: tuple[str, str], shown: dict[str, list[str]]) -> EmailMessage:
    letter, (address, name) = outgoing.letter.one_line_each(), sender
    message = EmailMessage(policy=policy.SMTP)
    message["From"] = _mailbox(address, letter.from_name or name)
    message["To"] = [_mailbox(each, "") for each in shown["To"]] or _mailbox(recipient, outgoing.recipient_name)
    for field in ("Cc", "Reply-To"):
        if shown[field]:
            message[field] = [_mailbox(each, "") for each in shown[field]]
    message["Subject"] = letter.subject
    message["Date"] = datetime.fromtimestamp(outgoing.at // SECOND, UTC)
    message["Message-ID"] = f"<{outgoing.id}@{address.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834 §5
    message["X-Auto-Response-Suppress"] = "All"  # as Exchange asks: no answers of people who are away
    templates = _templates()
    message.set_content(templates.get_template("letter.txt").render(letter=letter), cte="quoted-printable")
    html = templates.get_template("letter.html").render(letter=letter)
    message.add_alternative(html, subtype="html", cte="quoted-printable")
    message.set_boundary(f"=_{outgoing.id}")
    if outgoing.attachment is not None:
        file = outgoing.attachment
        kind, _, subtype = file.media_type.partition("/")
        message.add_attachment(file.content, maintype=kind, subtype=subtype, filename=file.name)
        message.set_boundary(f"=_{outgoing.id}_m")
    return message


def _mailbox(address: str, name: str) -> Address:
    local, _, host = address.rpartition("@")
    return Address(display_name=one_line(name, NAME_MAX), username=local, domain=host)


def _wrapped(text: str) -> str:
    """Lines of text; what has no space, such as a link, is never broken."""
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


@functools.cache
def _templates() -> "Environment":
    """Compiled once, with the first mail: a daemon is ready without. They hold nothing of any mail."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("gatewayd.mail"),
        autoescape=jinja2.select_autoescape(("html",)),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters["wrapped"] = _wrapped
    return environment
