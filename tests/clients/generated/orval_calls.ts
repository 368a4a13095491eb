// Ten calls of a client that orval generates.
import {
  accountingCreateClient,
  accountingCreateInvoice,
  accountingGetClient,
  accountingGetInvoice,
  accountingIssueInvoice,
  accountingListInvoices,
  accountingUpdateClient,
  businessesCreate,
  businessesList,
  legalEntityGetLegalEntities,
} from "./books/books";

declare const process: { env: Record<string, string | undefined> };

// Its addresses are those of a page on the same origin.
const send = globalThis.fetch;
globalThis.fetch = (input, init) => send(`${process.env["BASE_URL"]}${String(input)}`, init);

const headers = { Authorization: `Bearer ${process.env["API_KEY"]}` };

type Done<A> = Extract<A, { status: 200 }>;

function done<A extends { status: number; data: unknown }>(answer: A): Done<A>["data"] {
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.data));
  return answer.data as Done<A>["data"];
}

const entities = done(await legalEntityGetLegalEntities({ limit: 1 }, { headers }));
const billingAddress = { line1: "8 Canal Wharf", town: "Leeds", countryCode: "GB" };
const once = { headers: { ...headers, "Idempotency-Key": "made-once" } };
const made = done(await accountingCreateClient({ name: "Willow Interiors", billingAddress }, once));
const change = { paymentTermsDays: 14, expectedVersion: made.version };
done(await accountingUpdateClient(made.id, change, { headers }));
const read = done(await accountingGetClient(made.id, { headers }));
const lines = [{ description: "Oak boards", unitPrice: "49.99", quantity: "12" }];
const draft = done(await accountingCreateInvoice({ clientId: made.id, lines }, { headers }));
const issued = done(await accountingIssueInvoice(draft.id, { expectedVersion: draft.version }, { headers }));
const listed = done(await accountingListInvoices({ clientId: made.id, status: ["issued"], limit: 5 }, { headers }));
const missing = await accountingGetInvoice("inv_00000000000000000000000000", { headers });
const business = done(
  await businessesCreate(
    {
      legalEntityId: entities.data[0]?.id ?? "",
      type: "company_trade",
      name: "Joinery",
      commencementDate: "2024-05-01",
    },
    { headers },
  ),
);
const businesses = done(await businessesList({ type: "company_trade" }, { headers }));
console.log(
  JSON.stringify({
    client: [read.name, read.billingAddress?.line1, read.paymentTermsDays],
    draft: [draft.status, draft.number],
    issued: [issued.status, issued.netTotal, issued.version > draft.version],
    listed: listed.data.map((invoice) => [invoice.id === issued.id, invoice.isOverdue]),
    missing: missing.status === 404 ? [missing.data.status, missing.data.code] : [],
    business: [business.type, business.commencementDate],
    businesses: businesses.data.map((each) => each.name),
  }),
);
