"""The names of the fraud-prevention headers that a tax authority may agree to do without (domain model §D2)."""

FRAUD_HEADERS = (
    "Gov-Client-Device-ID",
    "Gov-Client-User-IDs",
    "Gov-Client-Timezone",
    "Gov-Client-Local-IPs",
    "Gov-Client-Local-IPs-Timestamp",
    "Gov-Client-MAC-Addresses",
    "Gov-Client-User-Agent",
    "Gov-Client-Browser-JS-User-Agent",
    "Gov-Client-Browser-Plugins",
    "Gov-Client-Browser-Do-Not-Track",
    "Gov-Client-Screens",
    "Gov-Client-Window-Size",
    "Gov-Client-Public-IP",
    "Gov-Client-Public-IP-Timestamp",
    "Gov-Client-Public-Port",
    "Gov-Client-Multi-Factor",
    "Gov-Vendor-Version",
    "Gov-Vendor-Product-Name",
    "Gov-Vendor-License-IDs",
    "Gov-Vendor-Public-IP",
    "Gov-Vendor-Forwarded",
)
"""All but Gov-Client-Connection-Method, which says what the others are."""


def fraud_header_error(text: str) -> str | None:
    """Why a text is not one of them, as the authority writes it."""
    if text in FRAUD_HEADERS:
        return None
    meant = next((name for name in FRAUD_HEADERS if name.lower() == text.lower()), None)
    return f"must be one of {', '.join(FRAUD_HEADERS)}" if meant is None else f"is written {meant}"
