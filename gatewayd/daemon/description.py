"""What a daemon with given settings offers: its operations, and the OpenAPI document of them."""

from typing import Any, cast

from gatewayd import catalogue
from gatewayd.areas import vault
from gatewayd.catalogue import Catalogue
from gatewayd.clock import from_wire
from gatewayd.config import Config
from gatewayd.events import EVENT_KINDS, EventBody, sequence_of
from gatewayd.http import openapi
from gatewayd.http.security_schemes import ProviderUrls
from gatewayd.oauth.addresses import AUTHORIZE, DISCOVERY, TOKEN
from gatewayd.outbound.transport import Policy
from gatewayd.webhooks.settings import settings_from


def catalogue_of(config: Config, receivers: Policy | None = None) -> Catalogue:
    """The operations of a daemon with these settings. `receivers` is the policy that webhooks are sent under; None: one
    of the settings' own. Raises `CatalogueError`.
    """
    webhooks = settings_from(config.webhooks)
    policy, retry = receivers or webhooks.policy, webhooks.retry
    settings, sends_mail = vault_settings(config), bool(config.mail.host)
    return catalogue.build(policy, retry.max_attempts, webhooks.retention_days, settings, sends_mail=sends_mail)


def vault_settings(config: Config) -> vault.Settings:
    """What the vault is told."""
    return vault.Settings(config.server.public_url, config.vault.max_upload_bytes, config.vault.organization_bytes)


def describe(offered: Catalogue, config: Config) -> dict[str, Any]:
    """The OpenAPI document."""
    origin = config.server.public_url
    urls = ProviderUrls(origin + AUTHORIZE, origin + TOKEN, origin + DISCOVERY)
    return openapi.describe(offered.areas, origin, _event_bodies(), urls)


def _event_bodies() -> dict[str, tuple[Any, object]]:
    """Each event kind with the struct of a delivery's body and a sample of it."""
    sent_at, event_id = from_wire("2026-11-20T09:30:00.125Z"), "evt_01kaqfb2r09h8g7f6e5d4c3b2a"
    return {
        name: (
            cast(Any, EventBody)[kind.data],
            EventBody(
                id="wdlv_01kaqfb2r0j1k2m3n4p5q6r7s8",
                event=name,
                data=kind.sample,
                sent_at=sent_at,
                event_id=event_id,
                sequence=sequence_of(sent_at, event_id),
            ),
        )
        for name, kind in EVENT_KINDS.items()
    }
