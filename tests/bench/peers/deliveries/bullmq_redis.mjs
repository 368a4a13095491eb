// BullMQ with Redis: one worker with 32 jobs in flight, node's own fetch. See phases.py for how it is told what to do.
import { createHmac } from "node:crypto";
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const given = JSON.parse(process.argv[2]);
const require = createRequire(pathToFileURL(`${given.modules}/package.json`));
const { Queue, Worker } = require("bullmq");
const { Redis } = require("ioredis");

const IN_FLIGHT = 32;
const ENQUEUED_TOGETHER = 100;
const key = Buffer.from(Array.from({ length: 32 }, (_, n) => n));
const secret = `whsec_${key.toString("base64")}`;
const connect = () => new Redis({ path: given.redis, maxRetriesPerRequest: null });
const queue = new Queue("events", { connection: connect() });

function event(number) {
  const digits = String(number).padStart(26, "0");
  const data = { lead_id: `lead_${digits}`, source: "website", status: "new" };
  return { id: `wdlv_${digits}`, event: "lead.created", data, sentAt: "2026-11-20T09:30:00.125Z" };
}

function signed(document) {
  const body = JSON.stringify(document);
  const now = Math.floor(Date.now() / 1000);
  const ours = createHmac("sha256", secret).update(`${now}.${body}`).digest("hex");
  const standard = createHmac("sha256", key).update(`${document.id}.${now}.${body}`).digest("base64");
  const headers = {
    "Content-Type": "application/json",
    "X-Service-Event": document.event,
    "X-Service-Delivery": document.id,
    "X-Service-Signature": `t=${now},v1=${ours}`,
    "webhook-id": document.id,
    "webhook-timestamp": String(now),
    "webhook-signature": `v1,${standard}`,
  };
  return { method: "POST", headers, body };
}

async function deliver(job) {
  const answer = await fetch(job.data.url, { ...signed(job.data.document), signal: AbortSignal.timeout(10_000) });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
  return answer.status;
}

async function enqueue() {
  for (let first = 0; first < given.count; first += ENQUEUED_TOGETHER) {
    const numbers = Array.from({ length: Math.min(ENQUEUED_TOGETHER, given.count - first) }, (_, n) => first + n);
    const options = { attempts: 8, backoff: { type: "exponential", delay: 30_000 } };
    const job = (n) => ({ name: "deliver", data: { url: `${given.url}/${n % given.receivers}`, document: event(n) } });
    await queue.addBulk(numbers.map((n) => ({ ...job(n), opts: options })));
  }
}

async function consume() {
  const worker = new Worker("events", deliver, { connection: connect(), concurrency: IN_FLIGHT, autorun: false });
  await new Promise((resolve, reject) => {
    let left = given.count;
    worker.on("completed", () => --left === 0 && resolve());
    worker.on("error", reject);
    worker.run();
  });
}

await queue.waitUntilReady();
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  await { enqueue, deliver: consume }[line.trim()]();
  console.log("done");
}
process.exit(0);
