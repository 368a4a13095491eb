"""The tax settings in the form that the engine works with."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast
from urllib.parse import urlencode, urlsplit

from gatewayd.config import Tax
from gatewayd.outbound.addresses import parse_networks
from gatewayd.outbound.listeners import Listener, no_listeners
from gatewayd.outbound.transport import Policy
from gatewayd.tax.fraud import fraud_headers as fraud

Mode = Literal["off", "sandbox", "forward", "hmrc"]

PRODUCTION: Final = "https://api.service.hmrc.gov.uk"  # HMRC reference guide
TEST: Final = "https://test-api.service.hmrc.gov.uk"
PRODUCTION_PAGES: Final = "https://www.tax.service.gov.uk"  # where people sign in
TEST_PAGES: Final = "https://test-www.tax.service.gov.uk"
SCOPE: Final = "read:vat read:self-assessment"  # domain model §D1
_EVERYWHERE: Final = parse_networks(("0.0.0.0/0", "::/0"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxSettings:
    """What the engine is told. `upstream` is an origin, and a path that goes before every other.

    `append_hop` is our public address; empty: nothing is added to what callers say of the way. `cache_seconds` 0: no
    answer is kept.
    """

    mode: Mode = "off"
    upstream: str = ""
    upstream_is_sandbox: bool = False
    ca_file: str = ""
    timeout_seconds: float = 30.0
    fraud_headers: fraud.Mode = "require"
    headers_agreed_missing: tuple[str, ...] = ()
    client_id: str = ""
    client_secret_file: str = ""
    append_hop: str = ""
    cache_seconds: float = 0.0
    own_listeners: Callable[[], Iterable[Listener]] = no_listeners

    @property
    def is_sandbox(self) -> bool:
        """Whether nobody's real taxes are asked for."""
        return self.mode == "sandbox" or self._is_at(TEST) or self._is_stand_in

    @property
    def is_production(self) -> bool:
        """Whether it is the authority itself that is asked, about real taxes."""
        return self._is_at(PRODUCTION)

    @property
    def _is_stand_in(self) -> bool:
        """Whether the upstream stands in for the authority, whose own address nobody can set."""
        return self.upstream_is_sandbox and not self._is_at(PRODUCTION) and not self._is_at(TEST)

    def _is_at(self, address: str) -> bool:
        return urlsplit(self.upstream).hostname == urlsplit(address).hostname

    @property
    def policy(self) -> Policy:
        """Chosen: the operator names the one host, which may well be in their own network; this daemon it is not.

        Plain HTTP has been refused by the settings, but for loopback.
        """
        return Policy(
            allow_networks=_EVERYWHERE,
            allow_http=self.upstream.startswith("http:"),
            ca_file=self.ca_file or None,
            own_listeners=self.own_listeners,
        )

    @property
    def connects(self) -> bool:
        """Whether organizations can be connected to the authority by a person who signs in there."""
        return self.mode == "hmrc" and bool(self.client_id)

    @property
    def sign_in_page(self) -> str:
        """Where a person authorises this service to ask about their taxes."""
        pages = TEST_PAGES if self.is_sandbox else PRODUCTION_PAGES
        return (self.upstream if self._is_stand_in else pages) + "/oauth/authorize"

    def sign_in_address(self, redirect_uri: str, state: str) -> str:
        """The same with what is asked for (RFC 6749 §4.1.1)."""
        parameters = {
            "response_type": "code",
            "client_id": self.client_id,
            "scope": SCOPE,
            "redirect_uri": redirect_uri,
            "state": state,
        }
        return f"{self.sign_in_page}?{urlencode(parameters)}"

    def judge(self, headers: Mapping[str, str]) -> fraud.Verdict:
        """What is to be said of a request's fraud-prevention headers."""
        return fraud.judge(
            headers,
            self.fraud_headers,
            sandbox=self.is_sandbox,
            documentation=not self.is_production,
            agreed_missing=self.headers_agreed_missing,
        )

    def secret(self) -> str:
        """The secret of this service at the authority; empty where there is none. Raises `OSError`."""
        return Path(self.client_secret_file).read_text("utf-8").strip() if self.client_secret_file else ""


def settings_from(tax: Tax, own_listeners: Callable[[], Iterable[Listener]] = no_listeners) -> TaxSettings:
    """The `[tax]` table of a loaded configuration."""
    mode = cast(Mode, tax.mode)
    return TaxSettings(
        mode=mode,
        upstream=tax.upstream.rstrip("/") or (PRODUCTION if mode == "hmrc" else ""),
        upstream_is_sandbox=tax.upstream_is_sandbox,
        ca_file=tax.ca_file,
        timeout_seconds=tax.timeout_seconds,
        fraud_headers=cast(fraud.Mode, tax.fraud_headers),
        headers_agreed_missing=tax.headers_agreed_missing,
        client_id=tax.client_id,
        client_secret_file=tax.client_secret_file,
        append_hop=tax.append_hop,
        cache_seconds=tax.cache_seconds,
        own_listeners=own_listeners,
    )
