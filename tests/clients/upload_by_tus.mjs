// Uploads a file as an app does with tus-js-client: in parts, and again from where it stands when the server was away.
import { createReadStream, readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Upload } from "tus-js-client";

const { url, path, chunkSize, size, pause } = JSON.parse(readFileSync(0, "utf-8"));
const file = createReadStream(path);
const source = size == null ? file.pipe(new PassThrough()) : file; // a stream whose end nobody knows
let errors = 0;
let requests = 0;

await new Promise((resolve, reject) => {
  const upload = new Upload(source, {
    uploadUrl: url,
    chunkSize,
    uploadSize: size ?? null,
    uploadLengthDeferred: size == null,
    retryDelays: Array(200).fill(50),
    storeFingerprintForResuming: false,
    onBeforeRequest: async () => {
      requests += 1;
      await sleep(pause);
    },
    onShouldRetry: () => {
      errors += 1;
      return true;
    },
    onError: reject,
    onSuccess: resolve,
  });
  upload.start();
});
console.log(JSON.stringify({ errors, requests }));
