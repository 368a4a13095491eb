"""What can go wrong on the way out, as stable codes: users see the code, the operator's log the detail."""

from typing import ClassVar


class OutboundError(Exception):
    """An outbound exchange that failed or was refused.

    `code` is stable and may be shown to API users. `detail` may name addresses and is for the operator's log only.
    """

    code: ClassVar[str] = "connection"

    def __init__(self, detail: str) -> None:
        super().__init__(f"{self.code}: {detail}")
        self.detail = detail


class AddressBlockedError(OutboundError):
    """The target is not one this instance may connect to."""

    code = "blocked_address"


class TargetError(AddressBlockedError):
    """The URL itself is unacceptable; nothing was looked up.

    `reason` is one of the stable words of `targets.REASONS`; `detail` is a sentence fit for the API user.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class NameLookupError(OutboundError):
    """The name did not resolve."""

    code = "dns"


class ConnectError(OutboundError):
    """No connection, or one that broke before the exchange was over."""

    code = "connection"


class TlsError(OutboundError):
    """The handshake failed, or the certificate is not valid for the original host name."""

    code = "tls"


class DeadlineError(OutboundError):
    """The deadline over the whole exchange passed."""

    code = "timeout"


class RedirectError(OutboundError):
    """The peer answered 3xx; redirects are never followed."""

    code = "redirect_refused"


class ProtocolError(OutboundError):
    """The peer's answer is not HTTP/1.1, or goes past a limit."""

    code = "protocol"
