// Reads and writes through the gateway at a steady rate. GET / reports the number of correct answers, the number of writes among them, and
// each failure. GET /stop reports the same once the last request has ended. URL, KEY and RATE (per second) configure the requests, VISIT
// and MEMBER the writes.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { clearInterval } from 'node:timers';

const { URL: base, KEY: key, RATE: rate, VISIT: visit, MEMBER: member } = process.env;
const READS = ['/v1/company', '/v1/jobs?limit=5', '/v1/invoices?limit=5', '/v1/job-financials?limit=5'];
const WRITE_EVERY = 10;
const counted = { good: 0, written: 0, failures: [] };
const asking = new Set();

async function ask(method, path, body, wanted = 200) {
  const startedAt = new Date().toISOString();
  const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json', 'idempotency-key': randomUUID() }) };
  try {
    const answer = await fetch(`${base}${path}`, { method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(15_000) });
    const text = await answer.text();
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
  response.end(JSON.stringify(counted));
}).listen(8080);
process.on('SIGTERM', () => process.exit(0));
