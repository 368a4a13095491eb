// Ten calls with openapi-fetch, by the types of openapi-typescript.
import createClient from "openapi-fetch";
import type { paths } from "./books/schema.js";

declare const process: { env: Record<string, string | undefined> };

const { GET, POST, PATCH } = createClient<paths>({
  baseUrl: process.env["BASE_URL"] ?? "",
  headers: { Authorization: `Bearer ${process.env["API_KEY"]}` },
});

async function of<A>(answer: Promise<{ data?: A; error?: unknown }>): Promise<A> {
  const { data, error } = await answer;
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

const entities = await of(GET("/legalEntity/getLegalEntities", { params: { query: { limit: 1 } } }));
const billingAddress = { line1: "8 Canal Wharf", town: "Leeds", countryCode: "GB" };
const made = await of(
  POST("/clients", {
    params: { header: { "Idempotency-Key": "made-once" } },
    body: { name: "Willow Interiors", billingAddress },
  }),
);
const client = { path: { clientId: made.id } };
await of(PATCH("/clients/{clientId}", { params: client, body: { paymentTermsDays: 14, expectedVersion: made.version } }));
const read = await of(GET("/clients/{clientId}", { params: client }));
const lines = [{ description: "Oak boards", unitPrice: "49.99", quantity: "12" }];
const draft = await of(POST("/invoices", { body: { clientId: made.id, lines } }));
const issued = await of(
  POST("/invoices/{invoiceId}/issue", {
    params: { path: { invoiceId: draft.id } },
    body: { expectedVersion: draft.version },
  }),
);
const listed = await of(GET("/invoices", { params: { query: { clientId: made.id, status: ["issued"], limit: 5 } } }));
const missing = await GET("/invoices/{invoiceId}", { params: { path: { invoiceId: "inv_00000000000000000000000000" } } });
const business = await of(
  POST("/businesses/create", {
    body: {
      legalEntityId: entities.data[0]?.id ?? "",
      type: "company_trade",
      name: "Joinery",
      commencementDate: "2024-05-01",
    },
  }),
);
const businesses = await of(GET("/businesses/list", { params: { query: { type: "company_trade" } } }));
console.log(
  JSON.stringify({
    client: [read.name, read.billingAddress?.line1, read.paymentTermsDays],
    draft: [draft.status, draft.number],
    issued: [issued.status, issued.netTotal, issued.version > draft.version],
    listed: listed.data.map((invoice) => [invoice.id === issued.id, invoice.isOverdue]),
    missing: [missing.error?.status, missing.error?.code],
    business: [business.type, business.commencementDate],
    businesses: businesses.data.map((each) => each.name),
  }),
);
