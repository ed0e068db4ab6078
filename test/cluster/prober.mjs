// Runs in a pod: reads and writes through the gateway at a steady rate. Prints each failure, and every second a line
// with how many requests were answered as they should be and how many were not. URL, KEY and RATE (a second) say what.
import { randomUUID } from 'node:crypto';

const { URL: base, KEY: key, RATE: rate } = process.env;
const READS = ['/v1/company', '/v1/jobs?limit=5', '/v1/invoices?limit=5', '/v1/job-financials?limit=5'];
const WRITE_EVERY = 10;
let good = 0;
let failed = 0;

async function ask(method, path, body, wanted = 200) {
  const startedAt = new Date().toISOString();
  const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json', 'idempotency-key': randomUUID() }) };
  try {
    const answer = await fetch(`${base}${path}`, { method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(15_000) });
    const text = await answer.text();
    if (answer.status !== wanted) throw new Error(`${answer.status} ${text}`);
    good += 1;
    return JSON.parse(text).data;
  } catch (error) {
    failed += 1;
    console.log(JSON.stringify({ failure: `${method} ${path}`, startedAt, reason: String(error.cause ?? error) }));
    return undefined;
  }
}

/** One technician is added to a visit and removed again: what is written stays as it was. */
async function write({ visit, member }) {
  const { revision, starts_at, ends_at } = (await ask('GET', `/v1/job-appointments/${visit}`)) ?? {};
  const change = { appointment_id: visit, team_member_id: member, expected_revision: revision, starts_at, ends_at, allow_outside_window: true };
  const added = revision && (await ask('POST', '/v1/job-assignments', change, 201));
  const own = added?.assignments.find((each) => each.team_member.id === member);
  if (own) await ask('DELETE', `/v1/job-assignments/${own.id}`, { expected_revision: added.revision });
}

const [{ id: visit }] = await ask('GET', '/v1/job-appointments?dispatch_status=UNASSIGNED&canceled=false&limit=1');
const [{ id: member }] = await ask('GET', '/v1/team-members?assignable=true&status=ACTIVE&limit=1');
let writing = Promise.resolve();
let turn = 0;
setInterval(() => {
  turn += 1;
  if (turn % WRITE_EVERY === 0) writing = writing.then(() => write({ visit, member }));
  else void ask('GET', READS[turn % READS.length]);
}, 1000 / Number(rate));
setInterval(() => console.log(JSON.stringify({ good, failed })), 1000);
process.on('SIGTERM', () => process.exit(0));
