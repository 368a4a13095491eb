"""The scopes a credential may carry (Spec §5) and the narrower ones this service adds."""

from collections.abc import Collection, Iterable, Mapping

from gatewayd.errors import Problem

SCOPES: Mapping[str, str] = {  # Spec §5, the meanings in its words
    "openid": "Verify identity for sign-in.",
    "offline_access": "Stay connected: yields a refresh token.",
    "entities:read": "View legal entities and income sources.",
    "entities:write": "Create and update legal entities and income sources.",
    "accounting:read": "View invoices, quotes, counterparties, transactions and reports.",
    "accounting:write": "Create and update invoices, quotes, counterparties and transactions.",
    "banking:read": "View connected bank accounts and their transactions.",
    "vault:read": "View vault documents.",
    "vault:write": "Upload and update vault documents.",
    "billing:read": "View billing, subscription and credits information.",
    "periods:read": "View accounting period status and close state.",
    "webhooks:read": "View webhook subscriptions and delivery history.",
    "webhooks:write": "Create, update and delete webhook subscriptions.",
    "tax:read": "View tax-authority filing status and submissions. Restricted.",
    "tax:write": "Submit filings to the tax authority on the user's behalf. Restricted.",
}

PERSON_SCOPES: Mapping[str, str] = {  # OpenID Connect Core §5.4: which claims a client gets
    "profile": "See your name.",
    "email": "See your e-mail address.",
}

EXTENSION_SCOPES: Mapping[
    str, str
] = {  # Chosen: narrower grants for keys, the closing of periods, credits, what is open, and the CRM of the webhooks
    "assets:read": "View portfolios, positions and investment income only.",
    "assets:write": "Create and update portfolios and investment transactions only.",
    "landlord:read": "View properties, tenancies and their reports only.",
    "landlord:write": "Create and update properties and tenancies only.",
    "periods:write": "Close and reopen accounting periods, and mark obligations as met.",
    "billing:write": "Grant credits, set plans and costs. For administrators of the instance alone.",
    "crm:read": "View leads and opportunities.",
    "crm:write": "Create leads and move opportunities.",
    "access:read": "View what is open to the outside: links, feeds, receivers, apps and keys, by who made it.",
    "access:write": "End what is open to the outside.",
}

ALL_SCOPES: Mapping[str, str] = {**SCOPES, **PERSON_SCOPES, **EXTENSION_SCOPES}

BEYOND: Mapping[str, str] = {
    "accounting:read": "This includes properties, tenants and their guarantors, rents and mortgages; portfolios, shares"
    " and investment income; and the allocations and rules of bank transactions.",
    "accounting:write": "This includes properties, tenants and mortgages; portfolios, shares and investment income; and"
    " bank accounts with their statements, allocations and rules.",
    "billing:read": "For administrators of the instance it includes the organizations that there are.",
    "periods:read": "This includes obligations, and when they are due.",
    "billing:write": "This includes renaming, suspending and deleting organizations.",
    "vault:write": "This includes links by which anybody can open a document.",
}
"""What a scope opens that nobody would expect of its words, which are the specification's."""

RESTRICTED = frozenset({"tax:read", "tax:write"})
"""Granted only after manual approval (Spec §5, rule 4)."""

SIGN_IN_ONLY = frozenset({"openid", "offline_access", *PERSON_SCOPES})
"""Meaningful in an OAuth flow only; a key cannot carry them."""

KEY_SCOPES = frozenset(ALL_SCOPES) - SIGN_IN_ONLY
FULL_ACCESS = KEY_SCOPES - RESTRICTED
"""What a legacy key without scopes may do (Spec §5, API keys, rule 6) until tax access is approved."""

_NARROWER = {
    "assets:read": "accounting:read",
    "assets:write": "accounting:write",
    "landlord:read": "accounting:read",
    "landlord:write": "accounting:write",
}


def ordered(scopes: Collection[str]) -> list[str]:
    """The scopes in the order in which the specification lists them; unknown ones are left out."""
    return [scope for scope in ALL_SCOPES if scope in scopes]


def meaning(scope: str) -> str:
    """What a scope opens, as people are told who allow it. One that is not known stands for itself."""
    return " ".join(text for text in (ALL_SCOPES.get(scope, scope), BEYOND.get(scope)) if text)


def described() -> dict[str, str]:
    """All scopes with their meanings, as the description tells them: with those that open a part alone."""
    found = {}
    for scope in ALL_SCOPES:
        parts = [f"`{part}`" for part, whole in _NARROWER.items() if whole == scope]
        found[scope] = meaning(scope) + (f" A part of it alone: {', '.join(parts)}." if parts else "")
    return found


def narrower(area: str, scope: str) -> str | None:
    """The extension scope that also opens `scope` within `area`: `landlord:read` for landlord's `accounting:read`."""
    candidate = f"{area}:{scope.partition(':')[2]}"
    return candidate if _NARROWER.get(candidate) == scope else None


class ScopeLacking(Problem):
    """403 naming every scope that is needed: of the operation, and of what this one request would change beside it."""

    def __init__(self, scopes: Iterable[str]) -> None:
        self.scopes = tuple(scopes)
        scopes, them = ("scope", "it") if len(self.scopes) == 1 else ("scopes", "them")
        listed = " and ".join(self.scopes)
        message = f"This operation needs the {scopes} {listed}: use a credential that carries {them}."
        super().__init__("insufficient_scope", message, extra={"requiredScopes": list(self.scopes)})
