// A relying party with credentials of its own, built with `openid-client`: it is registered by whoever runs the server.
//
// Standard input: {desk, issuer, api, redirect, scope, clientId, secret, privateKey, method}. `method` is the way that
// it authenticates; `privateKey` is a JWK for private_key_jwt.
// Standard output: what it saw, step by step.

import { given, tell, visit } from "./desk.mjs";
import * as client from "openid-client";

const EC = { name: "ECDSA", namedCurve: "P-256" };
const ways = {
  client_secret_basic: async () => client.ClientSecretBasic(given.secret),
  client_secret_post: async () => client.ClientSecretPost(given.secret),
  private_key_jwt: async () =>
    client.PrivateKeyJwt(await crypto.subtle.importKey("jwk", given.privateKey, EC, false, ["sign"])),
  none: async () => client.None(),
};

async function discover(method) {
  return client.discovery(new URL(given.issuer), given.clientId, undefined, await ways[method]());
}

async function failure(step) {
  try {
    await step();
    return null;
  } catch (error) {
    return { error: error.error ?? error.cause?.error, status: error.status };
  }
}

const config = await discover(given.method);
const checks = { pkceCodeVerifier: client.randomPKCECodeVerifier(), expectedState: client.randomState() };
const url = await client.buildAuthorizationUrlWithPAR(config, {
  redirect_uri: given.redirect,
  scope: given.scope,
  resource: given.issuer,
  state: checks.expectedState,
  code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
  code_challenge_method: "S256",
});
const arrived = await visit(url);
const nobody = await discover("none");
const found = { withoutProof: await failure(() => client.authorizationCodeGrant(nobody, arrived, checks)) };
const tokens = await client.authorizationCodeGrant(config, arrived, checks, { resource: given.issuer });
found.scope = tokens.scope;
const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token);
found.introspected = await client.tokenIntrospection(config, refreshed.access_token);
await client.tokenRevocation(config, refreshed.refresh_token);
found.afterRevocation = await failure(() => client.refreshTokenGrant(config, refreshed.refresh_token));
tell(found);
