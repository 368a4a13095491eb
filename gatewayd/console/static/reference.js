// Draws the API reference from the service's own description. What calls are tried with stays in the memory of this page:
// nothing is kept, and nothing is asked of anybody else.
"use strict";

/** curl, Python and JavaScript; the viewer knows forty more. */
const SHOWN = { shell: "curl", python: "requests", js: "fetch" };

function hiddenClients() {
  const others = ["c", "clojure", "csharp", "dart", "fsharp", "go", "http", "java", "julia", "kotlin", "node", "objc",
    "ocaml", "php", "powershell", "r", "ruby", "rust", "swift"];
  return {
    ...Object.fromEntries(others.map((name) => [name, true])),
    shell: ["wget", "httpie"],
    python: ["python3", "httpx_sync", "httpx_async", "aiohttp"],
    js: ["axios", "ofetch", "jquery", "xhr"],
  };
}

/** By a key or token alone: signing in by OAuth is for registered programs, which this page is none. */
function byKey(description) {
  const schemes = description.components.securitySchemes;
  const kept = Object.keys(schemes).filter((name) => schemes[name].type === "http");
  for (const name of Object.keys(schemes)) {
    if (!kept.includes(name)) delete schemes[name];
  }
  const isKept = (requirement) => Object.keys(requirement).every((name) => kept.includes(name));
  description.security = (description.security ?? []).filter(isKept);
  for (const operation of operations(description)) {
    if (operation.security) operation.security = operation.security.filter(isKept);
  }
  return kept[0];
}

function operations(description) {
  return Object.values(description.paths).flatMap((path) => Object.values(path)).filter((each) => each.responses);
}

/** Titles are plain text to the viewer. */
function plainTitle(operation) {
  operation.summary = operation.summary?.replaceAll("`", "");
}

/** Examples of what may be left out are shown, and sent only where somebody ticks them. */
function leaveOut(operation) {
  for (const parameter of operation.parameters ?? []) {
    if (parameter.required || parameter.in === "path") continue;
    const value = parameter.example ?? parameter.schema?.example ?? parameter.schema?.examples?.[0];
    if (value === undefined) continue;
    delete parameter.example;
    parameter.examples = { default: { value, "x-disabled": true } };
  }
}

async function draw(place) {
  const answer = await fetch("/openapi.json");
  if (!answer.ok) throw new Error(`/openapi.json answered ${answer.status}`);
  const description = await answer.json();
  const base = new URL(description.servers[0].url, location.origin).pathname;
  const scheme = byKey(description);
  for (const operation of operations(description)) {
    plainTitle(operation);
    leaveOut(operation);
  }
  place.replaceChildren(); // else it takes what stands there for its own, drawn beforehand
  Scalar.createApiReference(place, {
    content: description,
    servers: [{ url: location.origin + base }], // as this page was reached: it may call nobody else
    authentication: { preferredSecurityScheme: scheme },
    hiddenClients: hiddenClients(),
    featuredClients: Object.entries(SHOWN).map((each) => each.join("/")),
    defaultHttpClient: { targetKey: "shell", clientKey: SHOWN.shell },
    persistAuth: false,
    telemetry: false,
    withDefaultFonts: false,
    showDeveloperTools: "never",
    hideClientButton: true,
    hideDarkModeToggle: true, // as the system is set, like all other pages
    hideModels: true,
    showOperationId: true,
    documentDownloadType: "none",
    agent: { disabled: true },
    mcp: { disabled: true },
  });
}

const place = document.getElementById("reference");
const state = document.getElementById("state");
state.textContent = "Drawing it takes a moment.";
draw(place).catch((error) => {
  state.textContent = `It could not be drawn: ${error.message}. The description can be read as it is.`;
});
