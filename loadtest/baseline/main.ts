// The baseline of the read benchmarks: one Express process with pg and normalised tables. It has no gateway, gRPC, authentication, limits,
// validation, logs or metrics (design/performance.md, B; --tuned: T).
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import express from 'express';
import { Invoices } from './invoices.ts';
import { openPool } from './database.ts';
import type { Company, Position } from './statements.ts';

/** Replaces a credential: carries the company id that a proxy in front would have found out. */
const COMPANY_HEADER = 'x-company-id';

const { values } = parseArgs({ options: { tuned: { type: 'boolean', default: false } } });
const pool = openPool(process.env['DATABASE_URL'] ?? '');
const invoices = new Invoices(pool, values.tuned ? 'tuned' : 'plain');
const { rows } = await pool.query<{ id: string; time_zone: string }>('select id, time_zone from companies');
const companies = new Map(rows.map(({ id, time_zone: timeZone }) => [id, { id, timeZone }]));

const app = express().disable('x-powered-by').disable('etag');

app.get('/v1/invoices', async (request, response) => {
  const company = companyOf(request);
  const { data, next } = await invoices.page(company, Number(request.query['limit'] ?? 50), positionOf(request.query['cursor']));
  const cursor = next === undefined ? null : Buffer.from(`${next.createdAt} ${next.id}`).toString('base64url');
  response.set('Cache-Control', 'private, no-store').json({ data, pagination: { next_cursor: cursor }, meta: meta(company) });
});

app.get('/v1/invoices/:id', async (request, response) => {
  const company = companyOf(request);
  const data = await invoices.one(company, request.params.id);
  response.set('Cache-Control', 'private, no-store');
  if (data === undefined) response.sendStatus(404);
  else response.json({ data, meta: meta(company) });
});

app.get('/readyz', (_, response) => void response.send('ready\n'));

const server = app.listen(Number(process.env['PORT'] ?? 8090), '127.0.0.1');
process.once('SIGTERM', () => server.close(() => void pool.end()));

function positionOf(cursor: unknown): Position | undefined {
  if (typeof cursor !== 'string') return undefined;
  const [createdAt = '', id = ''] = Buffer.from(cursor, 'base64url').toString().split(' ');
  return { createdAt, id };
}

function companyOf(request: express.Request): Company {
  const company = companies.get(request.get(COMPANY_HEADER) ?? '');
  if (company === undefined) throw new Error(`${COMPANY_HEADER} names no company`);
  return company;
}

function meta({ timeZone }: Company): object {
  return { request_id: randomUUID(), generated_at: new Date().toISOString(), timezone: timeZone };
}
