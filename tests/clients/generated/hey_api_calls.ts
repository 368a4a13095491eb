// Ten calls of a client that @hey-api/openapi-ts generates.
import { client } from "./books/client.gen";
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
} from "./books/sdk.gen";

declare const process: { env: Record<string, string | undefined> };

client.setConfig({ baseUrl: process.env["BASE_URL"] ?? "", auth: () => process.env["API_KEY"] });

async function call() {
  const throwOnError = true as const;
  const entities = (await legalEntityGetLegalEntities({ query: { limit: 1 }, throwOnError })).data;
  const billingAddress = { line1: "8 Canal Wharf", town: "Leeds", countryCode: "GB" };
  const headers = { "Idempotency-Key": "made-once" };
  const body = { name: "Willow Interiors", billingAddress };
  const made = (await accountingCreateClient({ body, headers, throwOnError })).data;
  const path = { clientId: made.id };
  const change = { paymentTermsDays: 14, expectedVersion: made.version };
  await accountingUpdateClient({ path, body: change, throwOnError });
  const read = (await accountingGetClient({ path, throwOnError })).data;
  const lines = [{ description: "Oak boards", unitPrice: "49.99", quantity: "12" }];
  const draft = (await accountingCreateInvoice({ body: { clientId: made.id, lines }, throwOnError })).data;
  const version = { expectedVersion: draft.version };
  const issued = (await accountingIssueInvoice({ path: { invoiceId: draft.id }, body: version, throwOnError })).data;
  const query = { clientId: made.id, status: ["issued" as const], limit: 5 };
  const listed = (await accountingListInvoices({ query, throwOnError })).data;
  const missing = await accountingGetInvoice({ path: { invoiceId: "inv_00000000000000000000000000" } });
  const business = (
    await businessesCreate({
      body: {
        legalEntityId: entities.data[0]?.id ?? "",
        type: "company_trade",
        name: "Joinery",
        commencementDate: "2024-05-01",
      },
      throwOnError,
    })
  ).data;
  const businesses = (await businessesList({ query: { type: "company_trade" }, throwOnError })).data;
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
}

await call();
