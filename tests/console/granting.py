"""A connected app of Ann's, down to a grant that lives."""

from gatewayd.identity.sign_in import sessions
from gatewayd.identity.sign_in.sessions import Visitor
from gatewayd.identity.tokens import authorization_codes, authorizations
from gatewayd.identity.tokens.authorization_codes import Consent, TokenRequest
from gatewayd.store import WriteTx
from tests.console.visiting import Site
from tests.support.consents import REDIRECT, VERIFIER

HERE = Visitor(user_agent="Other", address="192.0.2.9")


async def grant(site: Site, org_id: str = "", name: str = "Sprout") -> str:
    """What a consent and a redeemed code leave; answers the grant's id."""
    client = await site.register(name=name)
    handle = await site.ask(client)

    def work(tx: WriteTx) -> str:
        _, session = sessions.start(tx, site.user_id, ["pwd"], HERE)
        sessions.end(tx, site.user_id, session.id)
        pending = authorizations.load(tx, handle)
        assert pending is not None
        consent = Consent(
            user_id=site.user_id,
            org_id=org_id or site.org_id,
            session_id=session.id,
            scopes=frozenset(pending.parameters.scope),
            authenticated_at=tx.now,
            methods=("pwd",),
        )
        state = authorization_codes.read_code(tx, authorization_codes.issue_code(tx, pending, consent))
        assert state is not None
        request = TokenRequest(client_id=client.id, redirect_uri=REDIRECT, code_verifier=VERIFIER, key_thumbprint=None)
        authorization_codes.check_code(state, request, tx.now)
        assert authorization_codes.redeem_code(tx, state, None, None) is None
        return state.grant.id

    return await site.store.write(work)
