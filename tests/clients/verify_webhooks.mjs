// Verifies deliveries with the packages that receivers use on Node, unchanged.
//
// Standard input: [{name, headers, body, secret, at}]; names of headers in lower case, `body` in base64, `at` the Unix
// seconds that the receiver's clock shows, or null for now.
// Standard output: {package: {name: null, or [class of the error, its message]}}.

import { readFileSync } from "node:fs";
import { Webhook as StandardWebhook } from "standardwebhooks";
import Stripe from "stripe";
import { Webhook as SvixWebhook } from "svix";

const stripe = new Stripe("sk_test_none");

const verifiers = {
  stripe: ({ headers, body, secret }) =>
    stripe.webhooks.constructEvent(body, headers["x-service-signature"], secret),
  standardwebhooks: ({ headers, body, secret }) => new StandardWebhook(secret).verify(body, headers),
  svix: ({ headers, body, secret }) => new SvixWebhook(secret).verify(body, headers),
};

const SystemDate = Date;

/** Makes the clock show `at`, in Unix seconds; null: the time that it is. */
function setClock(at) {
  globalThis.Date = at === null ? SystemDate : class extends SystemDate {
    constructor(...given) {
      super(...(given.length ? given : [at * 1000]));
    }
    static now() {
      return at * 1000;
    }
  };
}

function verdict(verify, delivery) {
  setClock(delivery.at);
  try {
    const document = verify(delivery);
    return document.event === "lead.created" ? null : ["Document", JSON.stringify(document)];
  } catch (error) {
    return [error.constructor.name, error.message];
  } finally {
    setClock(null);
  }
}

const deliveries = JSON.parse(readFileSync(0, "utf8")).map((one) => ({ ...one, body: Buffer.from(one.body, "base64") }));
const verdicts = Object.entries(verifiers).map(([name, verify]) => [
  name,
  Object.fromEntries(deliveries.map((one) => [one.name, verdict(verify, one)])),
]);
process.stdout.write(JSON.stringify(Object.fromEntries(verdicts)));
