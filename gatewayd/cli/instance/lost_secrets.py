"""What each sealed secret is, what becomes of it when it is given up, and how: for `gatewayd instance-key abandon`."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from gatewayd.areas.accounting import paper_links
from gatewayd.areas.legal_entities.rows import LEGAL_ENTITIES, forget_lost
from gatewayd.identity import audit
from gatewayd.identity.people import users
from gatewayd.identity.sign_in import second_factors
from gatewayd.identity.signing import seal_keys, signing_keys
from gatewayd.identity.tokens import refresh_tokens
from gatewayd.mail import outbox
from gatewayd.performing import idempotency
from gatewayd.store import ReadTx, WriteTx
from gatewayd.store.sealing.sealed_columns import SealedValue
from gatewayd.tax.connections import connections
from gatewayd.webhooks.subscribers import subscriptions


class Loss(NamedTuple):
    """How secrets of one column are told of and given up.

    `tell` is a sentence about one of them; None for those that are counted instead, under `counted`.
    """

    tell: Callable[[ReadTx, SealedValue], str] | None
    give_up: Callable[[WriteTx, SealedValue], None]
    counted: str = ""


def _tell_signing_key(tx: ReadTx, value: SealedValue) -> str:
    return f"signing key {value.row['kid']}: tokens that it signed are refused; the next start makes another key"


def _give_up_signing_key(tx: WriteTx, value: SealedValue) -> None:
    signing_keys.forget(tx, value.row["kid"])


def _tell_seal_key(tx: ReadTx, value: SealedValue) -> str:
    kid = value.row["kid"]
    return f"key of sealed periods {kid}: bundles that it signed stay good; the next period is sealed with another key"


def _give_up_seal_key(tx: WriteTx, value: SealedValue) -> None:
    seal_keys.forget(tx, value.row["kid"])


def _tell_webhook_secret(tx: ReadTx, value: SealedValue) -> str:
    id_ = value.row["id"]
    org_id = subscriptions.SUBSCRIPTIONS.organization_of(tx, id_)
    return f"webhook secret of {id_} ({org_id}): it is disabled until its owner rotates the secret and enables it"


def _give_up_webhook_secret(tx: WriteTx, value: SealedValue) -> None:
    tx.bind(subscriptions.SUBSCRIPTIONS.organization_of(tx, value.row["id"]))
    subscriptions.replace_lost_secret(tx, value.row["id"])


def _tell_previous_secret(tx: ReadTx, value: SealedValue) -> str:
    return f"previous webhook secret of {value.row['id']}: its rotation ends now"


def _give_up_previous_secret(tx: WriteTx, value: SealedValue) -> None:
    tx.bind(subscriptions.SUBSCRIPTIONS.organization_of(tx, value.row["id"]))
    subscriptions.end_lost_rotation(tx, value.row["id"])


def _tell_second_factor(tx: ReadTx, value: SealedValue) -> str:
    email = users.get(tx, value.row["user_id"]).email
    return f"second factor of {email}: signing in takes the password alone until it is set up again"


def _give_up_second_factor(tx: WriteTx, value: SealedValue) -> None:
    second_factors.remove(tx, value.row["user_id"], audit.OPERATOR)


def _tell_tax_connection(tx: ReadTx, value: SealedValue) -> str:
    org_id, entity_id = value.row["org_id"], value.row.get("legal_entity_id")
    whose, named = (f"{entity_id} ({org_id})", f" --entity {entity_id}") if entity_id else (org_id, "")
    return f"tax connection of {whose}: it ends, and gatewayd tax connect --org {org_id}{named} makes another"


def _give_up_tax_connection(tx: WriteTx, value: SealedValue) -> None:
    tx.bind(value.row["org_id"])
    entity_id = value.row.get("legal_entity_id")
    if connections.standing(tx, entity_id) is not None:  # the other token of the same connection was first
        connections.remove(tx, audit.OPERATOR, entity_id)


def _tell_nino(tx: ReadTx, value: SealedValue) -> str:
    id_ = value.row["id"]
    org_id = LEGAL_ENTITIES.organization_of(tx, id_)
    return f"National Insurance number of {id_} ({org_id}): it has none until it is entered again"


def _tell_utr(tx: ReadTx, value: SealedValue) -> str:
    id_ = value.row["id"]
    org_id = LEGAL_ENTITIES.organization_of(tx, id_)
    return f"Unique Taxpayer Reference of {id_} ({org_id}): it has none until it is entered again"


def _give_up_identifiers(tx: WriteTx, value: SealedValue) -> None:
    tx.bind(LEGAL_ENTITIES.organization_of(tx, value.row["id"]))
    forget_lost(tx, value.row["id"])  # both at once: a row is written anew only where the rest of it opens


def _give_up_letter(tx: WriteTx, value: SealedValue) -> None:
    outbox.forget_letter(tx, value.row["id"])


def _give_up_paper_link(tx: WriteTx, value: SealedValue) -> None:
    paper_links.forget_token(tx, value.row["id"])


def _give_up_refresh_answer(tx: WriteTx, value: SealedValue) -> None:
    refresh_tokens.forget_answer(tx, value.row["grant_id"], value.row["generation"])


def _give_up_response(tx: WriteTx, value: SealedValue) -> None:
    tx.bind(value.row["org_id"])
    idempotency.forget_response(tx, value.row["credential_id"], value.row["key"])


LOSSES: Final[Mapping[str, Loss]] = {  # numbers first: an entity whose number does not open cannot be changed otherwise
    "legal_entities.nino_sealed": Loss(_tell_nino, _give_up_identifiers),
    "legal_entities.utr_sealed": Loss(_tell_utr, _give_up_identifiers),
    "tax_connections.access_sealed": Loss(_tell_tax_connection, _give_up_tax_connection),
    "tax_connections.refresh_sealed": Loss(_tell_tax_connection, _give_up_tax_connection),
    "totp_secrets.secret_sealed": Loss(_tell_second_factor, _give_up_second_factor),
    "webhook_subscriptions.secret_sealed": Loss(_tell_webhook_secret, _give_up_webhook_secret),
    "webhook_subscriptions.previous_secret_sealed": Loss(_tell_previous_secret, _give_up_previous_secret),
    "signing_keys.private_sealed": Loss(_tell_signing_key, _give_up_signing_key),
    "seal_keys.private_sealed": Loss(_tell_seal_key, _give_up_seal_key),
    "refresh_tokens.answer_sealed": Loss(
        None, _give_up_refresh_answer, "answers kept for apps that lost theirs: those have to be connected again"
    ),
    "paper_links.token_sealed": Loss(
        None, _give_up_paper_link, "links of invoices and quotes: they stay good, and others are given out from now on"
    ),
    "mails.letter_sealed": Loss(
        None, _give_up_letter, "mails that wait: they are not sent, and what they were about has to be done anew"
    ),
    "idempotency_keys.response": Loss(
        None, _give_up_response, "answers kept under an Idempotency-Key: who repeats the request learns no outcome"
    ),
}
"""By column, in the order in which they are given up."""


def sentences(tx: ReadTx, lost: list[SealedValue]) -> list[str]:
    """What will be lost, one sentence for each; what only serves repetitions is counted."""
    told: dict[str, None] = {}
    for name, loss in LOSSES.items():
        values = [value for value in lost if value.column.name == name]
        if loss.tell is not None:
            told |= dict.fromkeys(loss.tell(tx, value) for value in values)
        elif values:
            told[f"{len(values)} {loss.counted}"] = None
    return list(told)


def give_up(tx: WriteTx, lost: list[SealedValue]) -> None:
    """Give up every one of them."""
    for name, loss in LOSSES.items():
        for value in lost:
            if value.column.name == name:
                loss.give_up(tx, value)
