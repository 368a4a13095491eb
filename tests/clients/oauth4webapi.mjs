// The pieces of `oauth4webapi`, each of which is as strict as its RFC: from the API's own metadata to a call, and back.
//
// Standard input: {desk, issuer, api, redirect, scope}. Standard output: what it saw, step by step.

import { given, tell, visit } from "./desk.mjs";
import * as oauth from "oauth4webapi";

const issuer = new URL(given.issuer);
const found = {};

// RFC 9728, then RFC 8414: the API says who issues tokens for it.
const resource = await oauth.processResourceDiscoveryResponse(issuer, await oauth.resourceDiscoveryRequest(issuer));
found.servers = resource.authorization_servers;
const plain = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm: "oauth2" }));
const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm: "oidc" }));
found.sameEndpoints = Object.entries(plain).every(([name, value]) => JSON.stringify(as[name]) === JSON.stringify(value));

// RFC 7591
const registered = await oauth.processDynamicClientRegistrationResponse(
  await oauth.dynamicClientRegistrationRequest(as, {
    client_name: "oauth4webapi",
    redirect_uris: [given.redirect],
    id_token_signed_response_alg: "ES256",
    token_endpoint_auth_method: "none",
  }),
);
const client = { ...registered, [oauth.clockTolerance]: 5 };
const none = oauth.None();
found.secret = registered.client_secret ?? null;

// RFC 7636, RFC 8707, RFC 9126, RFC 9449
const DPoP = oauth.DPoP(client, await oauth.generateKeyPair("ES256"));
const verifier = oauth.generateRandomCodeVerifier();
const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
const parameters = new URLSearchParams({
  response_type: "code",
  redirect_uri: given.redirect,
  scope: given.scope,
  resource: resource.resource,
  state,
  nonce,
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: "S256",
});
const pushed = await oauth.processPushedAuthorizationResponse(
  as,
  client,
  await oauth.pushedAuthorizationRequest(as, client, none, parameters, { DPoP }),
);
found.pushedFor = pushed.expires_in;
const url = new URL(as.authorization_endpoint);
url.searchParams.set("client_id", client.client_id);
url.searchParams.set("request_uri", pushed.request_uri);

// RFC 9207: `iss` is compared with the metadata, as a string
const answer = oauth.validateAuthResponse(as, client, await visit(url), state);
const tokenResponse = await oauth.authorizationCodeGrantRequest(as, client, none, answer, given.redirect, verifier, {
  DPoP,
  additionalParameters: { resource: resource.resource },
});
const tokens = await oauth.processAuthorizationCodeResponse(as, client, tokenResponse, {
  expectedNonce: nonce,
  requireIdToken: true,
});
await oauth.validateApplicationLevelSignature(as, tokenResponse);
found.tokenType = tokens.token_type;
const claims = oauth.getValidatedIdTokenClaims(tokens);
found.subject = claims.sub;

const userInfo = await oauth.userInfoRequest(as, client, tokens.access_token, { DPoP });
found.email = (await oauth.processUserInfoResponse(as, client, claims.sub, userInfo)).email;

// RFC 9068, with the key that it is bound to: what an API in our place would check
const api = new URL(given.api);
const seen = [];
const called = await oauth.protectedResourceRequest(tokens.access_token, "GET", api, undefined, undefined, {
  DPoP,
  [oauth.customFetch]: (address, init) => {
    seen.push(new Request(address, init));
    return fetch(address, init);
  },
});
found.called = called.status;
const token = await oauth.validateJwtAccessToken(as, seen[0], given.issuer, { requireDPoP: true });
found.accessToken = { ...token, cnf: Object.keys(token.cnf) };

const refreshed = await oauth.processRefreshTokenResponse(
  as,
  client,
  await oauth.refreshTokenGrantRequest(as, client, none, tokens.refresh_token, { DPoP }),
);
found.refreshed = refreshed.token_type;

// RFC 7009: the whole grant ends with its access token
await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, none, refreshed.access_token));
try {
  await oauth.protectedResourceRequest(refreshed.access_token, "GET", api, undefined, undefined, { DPoP });
} catch (error) {
  found.afterRevocation = [error.constructor.name, error.status, error.cause[0].parameters.error];
}
try {
  const late = await oauth.refreshTokenGrantRequest(as, client, none, refreshed.refresh_token, { DPoP });
  await oauth.processRefreshTokenResponse(as, client, late);
} catch (error) {
  found.lateRefresh = [error.constructor.name, error.status, error.error];
}
tell(found);
