// A relying party built with `openid-client`: finds out everything, registers, and goes the whole way.
//
// Standard input: {desk, issuer, api, redirect, scope, algorithm, par, dpop}. `api` is an address that the scope opens.
// Standard output: what it saw, step by step.

import { given, tell, visit } from "./desk.mjs";
import * as client from "openid-client";

const resource = given.issuer;
const config = await client.dynamicClientRegistration(
  new URL(given.issuer),
  {
    client_name: "openid-client",
    redirect_uris: [given.redirect],
    id_token_signed_response_alg: given.algorithm,
    dpop_bound_access_tokens: given.dpop,
  },
  client.None(),
  { algorithm: given.algorithm === "RS256" ? "oidc" : "oauth2" },
);
client.enableNonRepudiationChecks(config); // the ID token's signature counts, not the connection alone

const DPoP = given.dpop ? client.getDPoPHandle(config, await client.randomDPoPKeyPair()) : undefined;
const call = (token, handle = DPoP) =>
  client.fetchProtectedResource(config, token, new URL(given.api), "GET", undefined, undefined, { DPoP: handle });

/** One request in front of the person. */
async function begin() {
  const checks = {
    pkceCodeVerifier: client.randomPKCECodeVerifier(),
    expectedState: client.randomState(),
    expectedNonce: client.randomNonce(),
    idTokenExpected: true,
    maxAge: 3600,
  };
  const parameters = {
    redirect_uri: given.redirect,
    scope: given.scope,
    resource,
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    max_age: "3600",
    code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: "S256",
  };
  const build = given.par ? client.buildAuthorizationUrlWithPAR : client.buildAuthorizationUrl;
  return [await build(config, parameters, { DPoP }), checks];
}

const redeem = (arrived, checks) => client.authorizationCodeGrant(config, arrived, checks, { resource }, { DPoP });

/** What a step that must fail says. */
async function failure(step) {
  try {
    await step();
    return null;
  } catch (error) {
    return { name: error.constructor.name, code: error.code, error: error.error, status: error.status };
  }
}

const found = { clientId: config.clientMetadata().client_id, method: config.clientMetadata().token_endpoint_auth_method };

const [url, checks] = await begin();
found.requestNames = [...url.searchParams.keys()].sort();
const arrived = await visit(url);
const tokens = await redeem(arrived, checks);
found.tokenType = tokens.token_type;
found.scope = tokens.scope;
found.claims = tokens.claims();
found.userInfo = await client.fetchUserInfo(config, tokens.access_token, tokens.claims().sub, { DPoP });
found.called = (await call(tokens.access_token)).status;

const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token, { resource }, { DPoP });
found.rotated = refreshed.refresh_token !== tokens.refresh_token;
found.calledAgain = (await call(refreshed.access_token)).status;

if (given.dpop) {
  const thief = client.getDPoPHandle(config, await client.randomDPoPKeyPair());
  found.thief = await failure(() => call(refreshed.access_token, thief));
  found.withoutProof = (await fetch(given.api, { headers: { authorization: `Bearer ${refreshed.access_token}` } })).status;
  found.thiefRefreshes = await failure(() =>
    client.refreshTokenGrant(config, refreshed.refresh_token, { resource }, { DPoP: thief }),
  );
}

await client.tokenRevocation(config, refreshed.refresh_token);
found.afterRevocation = await failure(() => call(refreshed.access_token));
found.refreshAfterRevocation = await failure(() => client.refreshTokenGrant(config, refreshed.refresh_token));

const [again, againChecks] = await begin();
found.denied = await failure(async () => redeem(await visit(again, { allow: false }), againChecks));

const [mixed, mixedChecks] = await begin();
const elsewhere = await visit(mixed);
elsewhere.searchParams.set("iss", "https://other.example");
found.mixedUp = await failure(() => redeem(elsewhere, mixedChecks));
elsewhere.searchParams.delete("iss");
found.withoutIssuer = await failure(() => redeem(elsewhere, mixedChecks));

found.leaving = client.buildEndSessionUrl(config, { id_token_hint: tokens.id_token }).href;
tell(found);
