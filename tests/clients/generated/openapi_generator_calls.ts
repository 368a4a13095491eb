// Ten calls of a client that openapi-generator makes for TypeScript (typescript-fetch).
import {
  AccountingApi,
  BusinessesApi,
  BusinessType,
  Configuration,
  CreateBusinessType,
  LegalEntitiesApi,
  ListInvoicesStatus,
  ProblemFromJSON,
  ResponseError,
} from "./books";

declare const process: { env: Record<string, string | undefined> };

const key = process.env["API_KEY"] ?? "";
const configuration = new Configuration({
  basePath: process.env["BASE_URL"] ?? "",
  // It applies every scheme that would do, and sends what it is given for OAuth as the whole field.
  accessToken: (scheme) => (scheme === "oauth2" ? `Bearer ${key}` : key),
});
const accounting = new AccountingApi(configuration);
const ofBusinesses = new BusinessesApi(configuration);

async function problemOf(answer: Promise<unknown>) {
  try {
    await answer;
  } catch (error) {
    if (error instanceof ResponseError) return ProblemFromJSON(await error.response.json());
  }
  throw new Error("it was answered");
}

const entities = await new LegalEntitiesApi(configuration).legalEntityGetLegalEntities({ limit: 1 });
const billingAddress = { line1: "8 Canal Wharf", town: "Leeds", countryCode: "GB" };
const made = await accounting.accountingCreateClient({
  createClient: { name: "Willow Interiors", billingAddress },
  idempotencyKey: "made-once",
});
await accounting.accountingUpdateClient({
  clientId: made.id,
  updateClient: { paymentTermsDays: 14, expectedVersion: made.version },
});
const read = await accounting.accountingGetClient({ clientId: made.id });
const lines = [{ description: "Oak boards", unitPrice: "49.99", quantity: "12" }];
const draft = await accounting.accountingCreateInvoice({ createInvoice: { clientId: made.id, lines } });
const issued = await accounting.accountingIssueInvoice({
  invoiceId: draft.id,
  issueInvoice: { expectedVersion: draft.version },
});
const listed = await accounting.accountingListInvoices({ clientId: made.id, status: [ListInvoicesStatus.Issued], limit: 5 });
const missing = await problemOf(accounting.accountingGetInvoice({ invoiceId: "inv_00000000000000000000000000" }));
const business = await ofBusinesses.businessesCreate({
  createBusiness: {
    legalEntityId: entities.data[0]?.id ?? "",
    type: CreateBusinessType.CompanyTrade,
    name: "Joinery",
    commencementDate: new Date("2024-05-01"),
  },
});
const businesses = await ofBusinesses.businessesList({ type: BusinessType.CompanyTrade });
console.log(
  JSON.stringify({
    client: [read.name, read.billingAddress?.line1, read.paymentTermsDays],
    draft: [draft.status, draft.number],
    issued: [issued.status, issued.netTotal, issued.version > draft.version],
    listed: listed.data.map((invoice) => [invoice.id === issued.id, invoice.isOverdue]),
    missing: [missing.status, missing.code],
    business: [business.type, business.commencementDate?.toISOString().slice(0, 10)],
    businesses: businesses.data.map((each) => each.name),
  }),
);
