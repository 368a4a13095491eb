// What every program here does: read what it is given, ask the test beside it, and tell what it found.
// Imported before anything else, it also gives Node 18 the names that clients of today expect to be global.

import { readFileSync } from "node:fs";
import { webcrypto } from "node:crypto";

globalThis.crypto ??= webcrypto;
globalThis.CryptoKey ??= webcrypto.CryptoKey;

/** The JSON on standard input. */
export const given = JSON.parse(readFileSync(0, "utf8"));

/** Asks the test; answers its JSON. */
export async function ask(name, question = {}) {
  const response = await fetch(`${given.desk}/${name}`, { method: "POST", body: JSON.stringify(question) });
  if (!response.ok) throw new Error(`the test answers ${response.status}: ${await response.text()}`);
  return response.json();
}

/** Has the person visit an address; answers the URL that they arrive at. */
export async function visit(url, decision = {}) {
  return new URL(await ask("visit", { url: String(url), ...decision }));
}

/** Writes the JSON that the test reads. */
export function tell(found) {
  process.stdout.write(JSON.stringify(found));
}
