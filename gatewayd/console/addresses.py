"""Where the pages are. Imports nothing heavy: the door asks for every request whether it is one of theirs."""

from typing import Final

CHOOSE: Final = "/oauth/choose"
CONSENT: Final = "/oauth/consent"
SIGN_IN: Final = "/sign-in"
FORGOTTEN: Final = "/sign-in/forgotten"
UNSUBSCRIBE: Final = "/sign-in/unsubscribe"
SIGN_OUT: Final = "/sign-out"
ACCOUNT: Final = "/account"
APPS: Final = "/developers/apps"
KEYS: Final = "/developers/keys"
ACCESS: Final = "/developers/access"
TAX: Final = "/developers/tax"
TAX_CONNECTED: Final = f"{TAX}/connected"
USAGE: Final = "/developers/usage"
CLIENTS: Final = "/sales/clients"
INVOICES: Final = "/sales/invoices"
MAILS: Final = "/sales/mails"
ENTITIES: Final = "/books/entities"
DOCUMENTS: Final = "/documents"
WEBHOOKS: Final = "/developers/webhooks"
ADMIN: Final = "/admin"
ADMIN_ORGANIZATIONS: Final = f"{ADMIN}/organizations"
ADMIN_PEOPLE: Final = f"{ADMIN}/people"
ADMIN_CLIENTS: Final = f"{ADMIN}/clients"
ADMIN_TAX: Final = f"{ADMIN}/tax"
PEOPLE: Final = "/members"
ADMIN_AUDIT: Final = f"{ADMIN}/audit"
ADMIN_HEALTH: Final = f"{ADMIN}/health"
ADMIN_JOBS: Final = f"{ADMIN}/jobs"
ADMIN_BACKUPS: Final = f"{ADMIN}/backups"
DOCS: Final = "/docs"
GALLERY: Final = "/gallery"
SEARCH: Final = "/search"

PAPERS: Final = "/i"

_ROOMS: Final = frozenset(
    {
        "sign-in",
        "sign-out",
        "account",
        "members",
        "books",
        "oauth",
        "organization",
        "developers",
        "admin",
        "docs",
        "documents",
        "gallery",
        "i",
        "sales",
        "search",
        "static",
    }
)


def is_page(path: str) -> bool:
    """Whether a path belongs to the pages: `/` itself, or one whose first part is theirs."""
    return path == "/" or path[1:].partition("/")[0] in _ROOMS


def sign_in_link(issuer: str, token: str) -> str:
    """The address that signs somebody in, once."""
    return f"{issuer}{SIGN_IN}/link/{token}"


def invitation_link(issuer: str, token: str) -> str:
    """The address at which somebody joins an organization, once."""
    return f"{issuer}{SIGN_IN}/invitation/{token}"


def reset_link(issuer: str, token: str) -> str:
    """The address at which somebody sets a new password, once."""
    return f"{issuer}{SIGN_IN}/reset/{token}"
