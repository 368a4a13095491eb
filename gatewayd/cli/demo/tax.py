"""The shop reads a VAT obligation from the sandbox authority: refused until an operator has approved its key."""

import secrets
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import gatewayd
from gatewayd.cli.demo.firm import Firm
from gatewayd.cli.demo.http import DemoFailed, HttpClient
from gatewayd.clock import Clock, to_wire
from gatewayd.identity import audit
from gatewayd.store import Store
from gatewayd.tax import approvals
from gatewayd.tax.approvals import Subject

OBLIGATIONS = "/api/rpc/tax/vat/getObligations"
HEADERS_FILE = "fraud-prevention-headers.txt"
CLIENT, VENDOR = "198.51.100.24", "203.0.113.6"  # RFC 5737: of documentation, which the sandbox takes for public


class TaxScene:
    """The shop, and the operator of the instance; `directory` is where the headers are left for the reader."""

    def __init__(self, origin: str, firm: Firm, store: Store, directory: Path) -> None:
        self._url = origin + OBLIGATIONS
        self._firm = firm
        self._store = store
        self.headers_file = directory / HEADERS_FILE
        self._http = HttpClient()

    @property
    def url(self) -> str:
        """What is asked for: the obligations that are open, of the firm's legal entity."""
        return f"{self._url}?{urlencode({'legalEntityId': self._firm.entity_id, 'status': 'O'})}"

    async def run(self, clock: Clock, say: Callable[[str], None]) -> None:
        """All of it, told as it goes. Raises `DemoFailed`."""
        headers = fraud_prevention_headers(clock, self._firm.people[0].email)
        self.headers_file.write_text("".join(f"{name}: {value}\n" for name, value in headers.items()), "ascii")
        headers["Authorization"] = f"Bearer {self._firm.key}"
        refused = (await self._http.get(self.url, headers)).expect(403).json()
        if refused.get("code") != "insufficient_scope":
            raise DemoFailed(f"the key was refused for another reason: {refused}")
        say("7. The shop asks the (sandbox) tax authority for VAT obligations: 403 insufficient_scope.")
        await self._approve()
        say(f"     The operator approves its key, as `gatewayd tax approve --key {self._firm.key_id}` does.")
        answer = (await self._http.get(self.url, headers)).expect()
        due = _first_open(answer.json())
        say(f"     With the {len(headers) - 1} fraud-prevention headers of a web application, the answer is 200:")
        say(f"     the return for {due['start']} to {due['end']} is due on {due['due']}, and open.")

    async def _approve(self) -> None:
        subject = Subject("key", self._firm.key_id)
        await self._store.write(lambda tx: approvals.approve(tx, subject, None, audit.OPERATOR))


def _first_open(answer: Mapping[str, Any]) -> Mapping[str, str]:
    """The first obligation that is open, as the authority writes it (domain model §D1). Raises `DemoFailed`."""
    for obligation in answer.get("obligations", ()):
        if obligation.get("status") == "O" and {"start", "end", "due"} <= obligation.keys():
            first: Mapping[str, str] = obligation
            return first
    raise DemoFailed(f"no obligation is open: {answer}")


def fraud_prevention_headers(clock: Clock, email: str) -> dict[str, str]:
    """What a web application tells of its user, WEB_APP_VIA_SERVER (domain model §D2). The program is the demo's."""
    now = to_wire(clock.now())
    factor = {"type": "TOTP", "timestamp": f"{now[:16]}Z", "unique-reference": secrets.token_hex(12)}
    return {
        "Gov-Client-Connection-Method": "WEB_APP_VIA_SERVER",
        "Gov-Client-Browser-JS-User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
        "Gov-Client-Device-ID": str(uuid.uuid4()),
        "Gov-Client-Multi-Factor": _structure(factor),
        "Gov-Client-Public-IP": CLIENT,
        "Gov-Client-Public-IP-Timestamp": now,
        "Gov-Client-Public-Port": "57961",
        "Gov-Client-Screens": "width=1920&height=1080&scaling-factor=1&colour-depth=24",
        "Gov-Client-Timezone": "UTC+00:00",
        "Gov-Client-User-IDs": _structure({"demo-shop": email}),
        "Gov-Client-Window-Size": "width=1256&height=803",
        "Gov-Vendor-Forwarded": _structure({"by": VENDOR, "for": CLIENT}),
        "Gov-Vendor-License-IDs": _structure({"demo-shop": secrets.token_hex(32)}),
        "Gov-Vendor-Product-Name": quote("Demo shop"),
        "Gov-Vendor-Public-IP": VENDOR,
        "Gov-Vendor-Version": _structure({"demo-shop": "1.0", "gatewayd": gatewayd.__version__}),
    }


def _structure(fields: Mapping[str, str]) -> str:
    return urlencode(fields, quote_via=quote, safe="")
