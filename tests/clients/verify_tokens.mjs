// Verifies tokens with `jose`, each with the key set that it comes with.
//
// Standard input: [{token, keySet, audience, issuer, typ, algorithm}].
// Standard output: [null where the token is believed, else the code of the error].

import { given, tell } from "./desk.mjs";
import { createLocalJWKSet, jwtVerify } from "jose";

async function verdict({ token, keySet, audience, issuer, typ, algorithm }) {
  try {
    await jwtVerify(token, createLocalJWKSet(keySet), { audience, issuer, typ, algorithms: [algorithm] });
    return null;
  } catch (error) {
    return error.code ?? error.message;
  }
}

tell(await Promise.all(given.map(verdict)));
