"""What people are told by mail: invitations, links for a new password, what happens to accounts and webhooks.

Each is written in the transaction of its cause. What the audit log records of somebody's sign-in, keys and apps is told
to that person, whoever did it, so that they notice what they did not do themselves.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from gatewayd.clock import DAY, HOUR, Instant, to_wire
from gatewayd.config.keys import Mail
from gatewayd.identity.audit import Act
from gatewayd.identity.people import memberships, organizations, users
from gatewayd.identity.people.users import User
from gatewayd.mail import outbox
from gatewayd.mail.letters import Action, Letter
from gatewayd.mail.outbox import Kind, NewMail
from gatewayd.store import ReadTx, WriteTx

SETTLING_IN: Final = HOUR  # Chosen: nobody is told of the browser in which they begin
AGAIN_AFTER: Final = DAY  # Chosen: between two mails about one webhook that does not take events
LEADING: Final = frozenset({"owner", "admin"})
INVITATION_OVER: Final = frozenset({"invitation.accepted", "invitation.revoked"})
RESET_LINKS_VOID: Final = frozenset(
    {"user.password_changed", "user.password_reset", "user.reset_link_made", "user.disabled"}
)
"""Acts after which a link for a new password works no more; it ends with somebody's last membership too."""
LEADS_NO_MORE: Final = frozenset({"membership.removed", "membership.role_changed", "user.disabled"})
OF_LEADERS: Final[tuple[Kind, ...]] = ("webhook_failing", "webhook_switched_off")
"""What is told to who leads an organization, and to nobody who does so no more."""
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_OWN: Final = "You get this because it concerns your account. Nobody can unsubscribe from what keeps an account safe."


class Mailing(NamedTuple):
    """That mail is sent. `issuer` is `server.public_url`, to which links in mails lead."""

    issuer: str

    @property
    def host(self) -> str:
        """What people know the site by."""
        return urlsplit(self.issuer).netloc


def mailing_of(mail: Mail, public_url: str) -> Mailing | None:
    """None where no mail is sent."""
    return Mailing(public_url) if mail.host else None


class Invited(NamedTuple):
    """Somebody who may join. `inviter` None: the operator invites."""

    id: str
    email: str
    role: str
    inviter: str | None
    link: str
    expires_at: Instant


class FailingWebhook(NamedTuple):
    """A subscription of the transaction's organization whose receiver takes no events. `reason` is words for why it was
    switched off; None: it goes on.
    """

    id: str
    url: str
    reason: str | None


def invite(tx: WriteTx, mailing: Mailing, invited: Invited) -> None:
    """Send the link of an invitation into the transaction's organization."""
    name = organizations.get(tx, tx.org_id).name
    who = "Whoever runs the server" if invited.inviter is None else invited.inviter
    article = "an" if invited.role[0] in "ao" else "a"
    letter = Letter(
        subject=f"You are invited to {name}",
        paragraphs=(f"{who} invites you to {name} at {mailing.host}, as {article} {invited.role}.",),
        action=Action("Accept the invitation", invited.link),
        after=(
            f"The link works once, until {moment(invited.expires_at)}. Whoever has it can join: do not pass it on.",
            "If you did not expect this, do nothing.",
        ),
        reason="You get this because somebody entered your address as that of a colleague.",
    )
    mail = NewMail("invitation", tx.org_id, invited.email, letter, expires_at=invited.expires_at, about=invited.id)
    outbox.queue(tx, mail)


def send_reset_link(tx: WriteTx, mailing: Mailing, user: User, link: str, expires_at: Instant) -> None:
    """Send a link that sets a new password to whoever asked for it at the sign-in page."""
    letter = Letter(
        subject="Set a new password",
        paragraphs=(f"Somebody asked for a new password for your account at {mailing.host}.",),
        action=Action("Set a new password", link),
        after=(
            f"The link works once, until {moment(expires_at)}. When you use it, you are signed out everywhere else.",
            "If it was not you, do nothing: your password stays as it is.",
        ),
        reason=_OWN,
    )
    mail = NewMail("password_reset", None, user.email, letter, user.name, expires_at, user.id)
    outbox.queue(tx, mail)


def tell_of_act(tx: WriteTx, mailing: Mailing, act: Act) -> None:
    """Tell somebody what was done to their account, where it is something that they should notice."""
    telling = _TOLD.get(act.action)
    if telling is None:
        return
    user_id = act.subject if act.subject.startswith("usr_") else act.actor
    user = users.get(tx, user_id) if user_id.startswith("usr_") else None
    if user is None or user.disabled_at is not None:
        return
    told = telling(tx, act, user)
    if told is None:
        return
    kind, subject, sentence, path, facts = told
    letter = Letter(
        subject=subject,
        paragraphs=(sentence, f"The account is yours at {mailing.host}. If it was you, there is nothing to do."),
        facts=(("When", moment(tx.now)), *facts),
        action=Action("Look at it", f"{mailing.issuer}{path}"),
        after=("If it was not you, set a new password and sign out everywhere, or tell whoever runs the server.",),
        reason=_OWN,
    )
    outbox.queue(tx, NewMail(kind, act.org_id, user.email, letter, user.name, about=act.subject))


def withdraw_after(tx: WriteTx, act: Act) -> None:
    """Send no more what an act made void: links that it ended, and what somebody may not be told any more.

    What keeps an account safe is told nevertheless, and to who is disabled too.
    """
    subject = act.subject
    if act.action in INVITATION_OVER:
        outbox.withdraw(tx, "invitation", act.org_id, about=subject)
    alone = act.action == "membership.removed" and not memberships.of_user(tx, subject)
    if alone or act.action in RESET_LINKS_VOID:
        outbox.withdraw(tx, "password_reset", None, about=subject)
    if act.action in LEADS_NO_MORE:
        _withdraw_from(tx, act, users.get(tx, subject))


def _withdraw_from(tx: WriteTx, act: Act, user: User) -> None:
    """What leaders are told is not sent to somebody who leads no more, or is disabled."""
    left = {} if act.org_id is None else {act.org_id: ""}
    roles = {**left, **{each.org_id: each.role for each in memberships.of_user(tx, user.id)}}
    disabled = act.action == "user.disabled"
    for org_id, role in roles.items():
        for kind in OF_LEADERS if disabled or role not in LEADING else ():
            outbox.withdraw(tx, kind, org_id, recipient=user.email)


def tell_of_webhook(tx: WriteTx, mailing: Mailing, webhook: FailingWebhook) -> None:
    """Tell those who lead the transaction's organization that a receiver takes no events: once a day at the most."""
    name, host = organizations.get(tx, tx.org_id).name, urlsplit(webhook.url).hostname or webhook.url
    kind: Kind = "webhook_failing" if webhook.reason is None else "webhook_switched_off"
    if webhook.reason is None:
        subject = f"{host} does not take events of {name}"
        first = "An event was tried as often as it can be, and did not arrive. Others may follow."
    else:
        subject = f"Events of {name} are not sent to {host} any more"
        first = f"The webhook was switched off: {webhook.reason}. Nothing is sent to it until somebody switches it on."
    letter = Letter(
        subject=subject,
        paragraphs=(first, "The page of the webhook says what the receiver answered, and sends again what is missing."),
        facts=(("Organization", name), ("Receiver", host)),
        action=Action("Look at the webhook", f"{mailing.issuer}/developers/webhooks/{webhook.id}"),
        reason=f"You get this because you lead {name}.",
    )
    since = Instant(tx.now - AGAIN_AFTER)
    for user in leaders(tx):
        if not outbox.count_lately(tx, kind, user.email, since, webhook.id):
            outbox.queue(tx, NewMail(kind, tx.org_id, user.email, letter, user.name, about=webhook.id))


def leaders(tx: ReadTx) -> list[User]:
    """Owners and administrators of the transaction's organization who are not disabled."""
    found = [users.get(tx, each.user_id) for each in memberships.list_members(tx) if each.role in LEADING]
    return [user for user in found if user.disabled_at is None]


def moment(instant: Instant) -> str:
    """`22 Nov 2026, 14:05 UTC`, as pages have it."""
    text = to_wire(instant)
    return f"{int(text[8:10])} {_MONTHS[int(text[5:7]) - 1]} {text[:4]}, {text[11:16]} UTC"


# -- what is told of an act

_Facts = tuple[tuple[str, str], ...]
_Told = tuple[Kind, str, str, str, _Facts]
"""Kind, subject, sentence, where the page is, facts."""


def _tell_sign_in(tx: ReadTx, act: Act, user: User) -> _Told | None:
    if act.detail.get("device") != "new" or tx.now - user.created_at < SETTLING_IN:
        return None
    facts = [("Address", act.detail.get("address")), ("Browser", act.detail.get("userAgent"))]
    shown = tuple((name, str(value)) for name, value in facts if value)
    sentence = "Somebody signed in to your account in a browser in which nobody had before."
    return "new_device", "You signed in in a new browser", sentence, "/account", shown


def _tell_key(tx: ReadTx, act: Act, user: User) -> _Told | None:
    name = str(act.detail.get("name", act.subject))
    sentence = f"An API key was created in your name: {name}. A program that has it can do what its scopes say."
    return "key_created", "An API key was created", sentence, "/developers/keys", (("Key", name),)


def _tell_app(tx: ReadTx, act: Act, user: User) -> _Told | None:
    host = str(act.detail.get("host", ""))
    sentence = "An app was connected to your account, and can do what was allowed to it."
    facts = (("App at", host),) if host else ()
    return "app_connected", "An app was connected", sentence, "/developers/apps", facts


def _changed(subject: str, sentence: str) -> Callable[[ReadTx, Act, User], _Told | None]:
    def tell(tx: ReadTx, act: Act, user: User) -> _Told | None:
        return "sign_in_changed", subject, sentence, "/account", ()

    return tell


_TOLD: Final[Mapping[str, Callable[[ReadTx, Act, User], _Told | None]]] = {
    "user.signed_in": _tell_sign_in,
    "key.created": _tell_key,
    "grant.created": _tell_app,
    "user.password_changed": _changed("Your password was changed", "The password of your account was changed."),
    "user.password_reset": _changed(
        "Your password was set anew", "A new password was set for your account, and you were signed out everywhere."
    ),
    "user.password_removed": _changed("Your password was removed", "The password of your account was removed."),
    "user.passkey_added": _changed("A passkey was added", "A passkey was added to your account."),
    "user.passkey_removed": _changed("A passkey was removed", "A passkey of your account was removed."),
    "user.totp_on": _changed("The second factor was turned on", "Signing in asks for a code as well from now on."),
    "user.totp_off": _changed("The second factor was turned off", "Signing in asks for no code any more."),
    "user.recovery_code_used": _changed(
        "A recovery code was used", "Somebody signed in to your account with one of its recovery codes."
    ),
}
"""By the action as the audit log records it."""
