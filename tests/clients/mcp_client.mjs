// An MCP client over its own transport, whose tools are operations of the API.
//
// Between transport and network stands the smallest MCP server there can be: for every message it calls the API with the
// credential that the transport sent. What the API refuses, 401 or 403, reaches the transport as the API answered it.
//
// Standard input: {desk, issuer, package, redirect, listing, creating, document}: two paths, and the address of the
// client's own metadata, or null. Standard output: what it saw, step by step.

import { ask, given, tell, visit } from "./desk.mjs";

const [{ Client }, { StreamableHTTPClientTransport }, { UnauthorizedError, auth }] = await Promise.all(
  given.package === "@modelcontextprotocol/sdk"
    ? ["client/index.js", "client/streamableHttp.js", "client/auth.js"].map((name) => import(`${given.package}/${name}`))
    : [1, 2, 3].map(() => import(given.package)),
);
const isFirst = given.package === "@modelcontextprotocol/sdk";
const endpoint = new URL("/mcp", given.issuer);
const seen = [];

/** What the client keeps. */
class Kept {
  clientMetadataUrl = given.document ?? undefined;
  redirectUrl = given.redirect;
  clientMetadata = {
    client_name: "MCP",
    redirect_uris: [given.redirect],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    application_type: "native",
  };
  asked = [];
  invalidated = [];
  state = () => "s-1";
  clientInformation = () => this.client;
  saveClientInformation = (client) => { this.client = client; };
  tokens = () => this.granted;
  saveTokens = (granted) => { this.granted = granted; };
  codeVerifier = () => this.verifier;
  saveCodeVerifier = (verifier) => { this.verifier = verifier; };
  saveDiscoveryState = (state) => { this.discovered = state; };
  discoveryState = () => this.discovered;
  redirectToAuthorization = async (url) => {
    this.asked.push(url.searchParams.get("scope"));
    this.arrived = await visit(url);
  };
  invalidateCredentials = (what) => {
    this.invalidated.push(what);
    if (what === "all" || what === "tokens") this.granted = undefined;
    if (what === "all" || what === "client") this.client = undefined;
    if (what === "all" || what === "discovery") this.discovered = undefined;
  };
}

/** What a message does at the API. */
function operation({ method, params }) {
  if (method !== "tools/call" || params.name === "list") return [given.listing, "GET"];
  return [given.creating, "POST", JSON.stringify(params.arguments)];
}

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "books", version: "1" },
  }),
  "tools/list": () => ({ tools: ["list", "create"].map((name) => ({ name, inputSchema: { type: "object" } })) }),
  "tools/call": () => ({ content: [{ type: "text", text: "done" }] }),
};

async function server(address, init) {
  const url = new URL(address);
  if (url.pathname !== endpoint.pathname) {
    const response = await fetch(address, init);
    seen.push([url.pathname, response.status]);
    return response;
  }
  if (init.method === "GET") return new Response(null, { status: 405 });
  const message = JSON.parse(init.body);
  const [path, method, body] = operation(message);
  const headers = new Headers({ "content-type": "application/json" });
  const credential = new Headers(init.headers).get("authorization");
  if (credential) headers.set("authorization", credential);
  const answer = await fetch(new URL(path, given.issuer), { method, body, headers });
  seen.push([message.method, answer.status]);
  if (!answer.ok) return answer;
  if (message.id === undefined) return new Response(null, { status: 202 });
  const find = results[message.method];
  const told = find ? { result: find(message.params) } : { error: { code: -32601, message: "no such method" } };
  return Response.json({ jsonrpc: "2.0", id: message.id, ...told });
}

const kept = new Kept();
let client, transport;

/** Until the person has answered, a transport only asks. One that was not connected yet is then replaced. */
async function connected(work) {
  for (let tries = 0; tries < 3; tries++) {
    try {
      if (!client) {
        transport = new StreamableHTTPClientTransport(endpoint, { authProvider: kept, fetch: server });
        const fresh = new Client({ name: "tests", version: "1" });
        await fresh.connect(transport);
        client = fresh;
      }
      return await work();
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
      const { searchParams } = kept.arrived;
      await transport.finishAuth(isFirst ? searchParams.get("code") : searchParams);
    }
  }
  throw new Error("it asks for ever");
}

function taken() {
  return seen.splice(0);
}

const found = {};
found.tools = await connected(() => client.listTools()).then(({ tools }) => tools.length);
found.first = { seen: taken(), asked: kept.asked.splice(0), scope: kept.granted.scope, clientId: kept.client.client_id };

await connected(() => client.callTool({ name: "create", arguments: { name: given.customer } }));
found.stepUp = { seen: taken(), asked: kept.asked.splice(0), scope: kept.granted.scope };

/** The first generation of the package asks for a refresh token only where it is told to. */
async function holdRefreshToken() {
  if (isFirst && !kept.granted.refresh_token) {
    await auth(kept, { serverUrl: endpoint, scope: "accounting:read offline_access", fetchFn: server });
    await auth(kept, { serverUrl: endpoint, authorizationCode: kept.arrived.searchParams.get("code"), fetchFn: server });
  }
  [kept.asked, kept.invalidated, client] = [[], [], undefined];
  taken();
}

/** A call over a new connection, and what became of what the client keeps. */
async function calledAnew() {
  const [clientId, token] = [kept.client.client_id, kept.granted.refresh_token];
  await connected(() => client.callTool({ name: "list", arguments: {} }));
  return {
    seen: taken(),
    asked: kept.asked.length,
    invalidated: kept.invalidated,
    sameClient: kept.client.client_id === clientId,
    sameToken: kept.granted.refresh_token === token,
  };
}

// An access token that has ended is refreshed by the transport.
await holdRefreshToken();
kept.granted = { ...kept.granted, access_token: kept.granted.access_token.slice(0, -8) + "AAAAAAAA" };
found.refreshed = await calledAnew();

// The person has disconnected the app: its tokens are dropped, and the client stays registered.
await holdRefreshToken();
await ask("disconnect", { clientId: kept.client.client_id });
found.disconnected = await calledAnew();

// The client is no more, as one that was swept: it is dropped, and another one registers.
if (!given.document) {
  await holdRefreshToken();
  await ask("revoke", { clientId: kept.client.client_id });
  found.revoked = await calledAnew();
}
tell(found);
