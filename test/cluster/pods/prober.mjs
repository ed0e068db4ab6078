// Reads and writes through the gateway at a steady rate. GET / reports the number of correct answers, the number of writes among them, that of
// refusals (503 with Retry-After), each failure, and how long answers took since the last GET /lap, which reports the same. GET /stop does so
// once the last request has ended. URL, KEY and RATE (per second) configure the requests, VISIT and MEMBER the writes.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { clearInterval } from 'node:timers';
import { setTimeout } from 'node:timers/promises';

const { URL: base, KEY: key, RATE: rate, VISIT: visit, MEMBER: member } = process.env;
const READS = ['/v1/company', '/v1/jobs?limit=5', '/v1/invoices?limit=5', '/v1/job-financials?limit=5'];
const WRITE_EVERY = 10;
const counted = { good: 0, written: 0, refused: 0, failures: [] };
let milliseconds = [];
const asking = new Set();

function latency() {
  const sorted = milliseconds.toSorted((one, other) => one - other);
  const quantile = (share) => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0);
  return { p50: quantile(0.5), p99: quantile(0.99), max: quantile(1) };
}

/** Repeats a refused write with its Idempotency-Key until its outcome is known: it may have been committed. A refused read is left. */
async function ask(method, path, body, wanted = 200, idempotencyKey = randomUUID()) {
  const began = performance.now();
  const startedAt = new Date().toISOString();
  const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json', 'idempotency-key': idempotencyKey }) };
  try {
    const answer = await fetch(`${base}${path}`, { method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(15_000) });
    const text = await answer.text();
    milliseconds.push(performance.now() - began);
    if (answer.status === 503 && answer.headers.has('retry-after')) {
      counted.refused += 1;
      if (!body) return undefined;
      await setTimeout(1000 * Number(answer.headers.get('retry-after')));
      return ask(method, path, body, wanted, idempotencyKey);
    }
    if (answer.status !== wanted) throw new Error(`${answer.status} ${text}`);
    counted.good += 1;
    if (method !== 'GET') counted.written += 1;
    return JSON.parse(text).data;
  } catch (error) {
    const failure = { request: `${method} ${path}`, startedAt, endedAt: new Date().toISOString(), reason: String(error.cause ?? error) };
    counted.failures.push(failure);
    console.log(JSON.stringify(failure));
    return undefined;
  }
}

/** Adds a technician to a visit, or removes them if they are there, whatever the outcome of the previous write. */
async function write() {
  const { revision, starts_at, ends_at, assignments } = (await ask('GET', `/v1/job-appointments/${visit}`)) ?? {};
  if (revision === undefined) return;
  const own = assignments.find((each) => each.team_member.id === member);
  if (own) await ask('DELETE', `/v1/job-assignments/${own.id}`, { expected_revision: revision });
  else
    await ask(
      'POST',
      '/v1/job-assignments',
      { appointment_id: visit, team_member_id: member, expected_revision: revision, starts_at, ends_at, allow_outside_window: true },
      201,
    );
}

/** Writes run one at a time: a turn is skipped while a write is in flight. */
let writing;
let turn = 0;
const ticking = setInterval(() => {
  turn += 1;
  if (turn % WRITE_EVERY === 0) return void (writing ??= write().finally(() => (writing = undefined)));
  const asked = ask('GET', READS[turn % READS.length]).finally(() => asking.delete(asked));
  asking.add(asked);
}, 1000 / Number(rate));

createServer(async (request, response) => {
  if (request.url === '/stop') {
    clearInterval(ticking);
    await Promise.all([writing, ...asking]);
  }
  if (request.url === '/lap') milliseconds = [];
  response.end(JSON.stringify({ ...counted, latency: latency() }));
}).listen(8080);
process.on('SIGTERM', () => process.exit(0));
