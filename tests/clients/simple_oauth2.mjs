// An app built with `simple-oauth2`: sign-in, calls, a refresh, and the end of both tokens by revocation.
//
// Standard input: {desk, issuer, api, redirect, scope, clientId, authorizationMethod}. Standard output: what it saw.

import { given, tell, visit } from "./desk.mjs";
import { createHash, randomBytes } from "node:crypto";
import { AuthorizationCode } from "simple-oauth2";

const client = new AuthorizationCode({
  client: { id: given.clientId, secret: "" },
  auth: {
    tokenHost: given.issuer,
    tokenPath: "/api/auth/oauth2/token",
    revokePath: "/api/auth/oauth2/revoke",
    authorizePath: "/api/auth/oauth2/authorize",
  },
  options: { authorizationMethod: given.authorizationMethod },
});
const found = {};

async function call(token) {
  const response = await fetch(given.api, { headers: { Authorization: `${token.token_type} ${token.access_token}` } });
  return response.status;
}

async function failure(promise) {
  try {
    await promise;
  } catch (error) {
    return [error.output?.statusCode ?? 0, error.data?.payload?.error ?? error.message];
  }
}

const verifier = randomBytes(32).toString("base64url");
const answer = await visit(
  client.authorizeURL({
    redirect_uri: given.redirect,
    scope: given.scope.split(" "),
    state: "s-1",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  }),
);
found.state = answer.searchParams.get("state");
const token = await client.getToken({
  code: answer.searchParams.get("code"),
  redirect_uri: given.redirect,
  code_verifier: verifier,
});
found.scope = token.token.scope.split(" ").sort();
found.expired = token.expired();
found.called = await call(token.token);

const fresh = await token.refresh();
found.rotated = fresh.token.refresh_token !== token.token.refresh_token;
found.calledAgain = await call(fresh.token);

// It takes nothing but JSON for an answer, from revocation too (RFC 7009 §2.2 leaves the body open).
await fresh.revoke("refresh_token");
found.afterRevocation = await call(fresh.token);
found.lateRefresh = await failure(fresh.refresh());
await fresh.revokeAll();
tell(found);
