"use strict";
// Signing in with a passkey, and adding one: the only things here that need a script.
const toBytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

function readable(options) {
  const listed = (list) => (list || []).map((each) => ({ ...each, id: toBytes(each.id) }));
  return {
    ...options,
    challenge: toBytes(options.challenge),
    ...(options.user && { user: { ...options.user, id: toBytes(options.user.id) } }),
    ...(options.excludeCredentials && { excludeCredentials: listed(options.excludeCredentials) }),
    ...(options.allowCredentials && { allowCredentials: listed(options.allowCredentials) }),
  };
}

function sendable(credential) {
  const response = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (credential.response[name]) response[name] = toText(credential.response[name]);
  }
  if (credential.response.getTransports) response.transports = credential.response.getTransports();
  return JSON.stringify({ id: credential.id, rawId: toText(credential.rawId), type: credential.type, response });
}

// The session has ended, is too old for this, or changed in another tab.
class Elsewhere extends Error {
  constructor(address) {
    super(address);
    this.address = address;
  }
}

async function ask(form) {
  const csrf = form.elements.csrf.value;
  const answer = await fetch(form.dataset.options, { method: "POST", body: new URLSearchParams({ csrf }) });
  if (answer.redirected) throw new Elsewhere(answer.url);
  if (!answer.ok) throw new Elsewhere(location.href);
  const publicKey = readable(await answer.json());
  return form.dataset.way === "create"
    ? navigator.credentials.create({ publicKey })
    : navigator.credentials.get({ publicKey });
}

// What a browser calls what went wrong, in words (WebAuthn Level 3; it says no more, so that sites learn nothing).
function said(error, form) {
  const adds = form.dataset.way === "create";
  switch (error.name) {
    case "NotAllowedError":
    case "AbortError":
      return adds
        ? "It was cancelled, or took too long. Try again."
        : "It was cancelled, took too long, or this device has no passkey of this site. Try again, or sign in with your password.";
    case "InvalidStateError":
      return "This device has a passkey of yours already: nothing was added.";
    case "SecurityError":
      return `Passkeys work at ${form.dataset.home} alone. Open that address, and try again there.`;
    case "NotSupportedError":
    case "ConstraintError":
      return "This device cannot make a passkey that is good enough. Try another device, or a security key.";
    case "TypeError":
      return "The server did not answer. Look at your connection, and try again.";
    default:
      return adds ? "The passkey was not added. Try again." : "The passkey was not used. Try again, or sign in with your password.";
  }
}

const known = Boolean(window.PublicKeyCredential);
for (const text of document.querySelectorAll(".without-passkeys")) text.hidden = known;
for (const form of known ? document.querySelectorAll("form.passkey") : []) {
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const problem = form.querySelector(".problem");
    problem.hidden = true;
    try {
      form.elements.credential.value = sendable(await ask(form));
      form.submit();
    } catch (error) {
      if (error instanceof Elsewhere) return location.assign(error.address);
      problem.textContent = said(error, form);
      problem.hidden = false;
    }
  });
}
