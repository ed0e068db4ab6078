// The baseline of the write benchmarks: one Express process with pg that gives the same guarantees. It checks keys and limits, validates
// bodies, writes everything in one transaction, and logs and times each request under the id in its answer. No events are published.
//
// Only the system: a second log line, the duration of every call and statement, credentials between components, admission by company,
// tables of the technicians of visits and jobs, the version that a row was projected by.
// Only this: foreign keys, a trip to Redis for every request, documents as JSON.
import { createHash, randomUUID } from 'node:crypto';
import { createClient } from '@redis/client';
import { createLog, createMetrics, durations } from '@truckroll/telemetry';
import express from 'express';
import { LRUCache } from 'lru-cache';
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { openPool } from '../database.ts';
import { Refusal, add, remove, type Answer, type Asked, type Caller } from './assignments.ts';
import { ASSIGNMENTS, COMPANY_OF_KEY, HOLD_VISIT } from './statements.ts';
import { assignmentOf, visitOf, type AssignmentRow, type VisitRow } from './visit.ts';

/** A revoked key is refused within a second. */
const KEY_BELIEVED_MS = 1000;

/** Limit of a company over all its keys, as a multiple of one key's limit. */
const COMPANY_FACTOR = 3;
const WINDOW_SECONDS = 60;

const pool = openPool(process.env['DATABASE_URL'] ?? '', 'baseline_writes', { lock_timeout: '5s', statement_timeout: '15s' });
const redis = createClient({ url: process.env['REDIS_URL'] ?? '' });
await redis.connect();
const [highest] = (await pool.query<{ writes_per_minute: number }>('select max(writes_per_minute) as writes_per_minute from companies')).rows;
const perMinute = highest?.writes_per_minute ?? 0;
const limiterOf = (keyPrefix: string, points: number): RateLimiterRedis =>
  new RateLimiterRedis({ storeClient: redis, useRedisPackage: true, keyPrefix, points, duration: WINDOW_SECONDS });
const ofKeys = limiterOf('baseline-key', perMinute);
const ofCompanies = limiterOf('baseline-company', COMPANY_FACTOR * perMinute);
const callers = new LRUCache<string, Caller>({ max: 10_000, ttl: KEY_BELIEVED_MS });

// Buffered like the system's log: lines written at the same moment leave together.
const log = createLog('usual-writes');
const requests = durations(createMetrics('usual-writes'), 'http_server_request_duration_seconds', 'Requests', ['method', 'route', 'status']);

const app = express()
  .disable('x-powered-by')
  .disable('etag')
  .use(recorded)
  .use(express.json({ limit: '256kb' }));

app.post('/v1/job-assignments', async (request, response) => {
  const caller = await allowed(request, response);
  const body = validated(request.body, ['appointment_id', 'team_member_id'], ['starts_at', 'ends_at']);
  if (Date.parse(body['ends_at'] as string) <= Date.parse(body['starts_at'] as string))
    throw new Refusal(400, 'INVALID_RANGE', 'ends_at must be after starts_at.');
  answer(response, caller, await add(pool, caller, keyOf(request), body));
});

app.delete('/v1/job-assignments/:id', async (request, response) => {
  const caller = await allowed(request, response);
  const body = validated({ ...(request.body as object), id: request.params.id }, ['id'], []);
  answer(response, caller, await remove(pool, caller, keyOf(request), body));
});

app.get('/v1/job-appointments/:id', async (request, response) => {
  const caller = await allowed(request, response);
  const [row] = (await pool.query<VisitRow>(HOLD_VISIT([caller.id, request.params.id]))).rows;
  if (row === undefined) throw new Refusal(404, 'NOT_FOUND', 'There is no such visit.');
  const assignments = (await pool.query<AssignmentRow>(ASSIGNMENTS([caller.id, request.params.id]))).rows.map(assignmentOf);
  answer(response, caller, { status: 200, location: null, response: { data: visitOf(row, assignments) } });
});

app.get('/readyz', (_, response) => void response.send('ready\n'));

app.use((error: Error, _request: express.Request, response: express.Response, _next: express.NextFunction) => {
  const { status, code } = error instanceof Refusal ? error : { status: 500, code: 'INTERNAL_ERROR' };
  response.status(status).json({ error: { code, message: error instanceof Refusal ? error.message : 'Something went wrong.' } });
});

const server = app.listen(Number(process.env['PORT'] ?? 8091), '127.0.0.1');
process.once('SIGTERM', () => server.close(() => void Promise.all([pool.end(), redis.close()])));

function recorded({ method, path, ip: peer }: express.Request, response: express.Response, next: express.NextFunction): void {
  const startedAt = performance.now();
  const { locals } = response;
  locals['requestId'] = randomUUID();
  response.once('finish', () => {
    const { statusCode: status, req } = response;
    const ms = Math.round((performance.now() - startedAt) * 100) / 100;
    const { path: route = 'none' } = (req.route ?? {}) as { path?: string };
    requests.ended(startedAt, method, route, String(status));
    log.info({ requestId: locals['requestId'] as string, method, route, path, status, ms, peer, companyId: locals['companyId'] as string }, 'request');
  });
  next();
}

async function allowed(request: express.Request, response: express.Response): Promise<Caller> {
  const key = /^Bearer (\S+)$/.exec(request.get('authorization') ?? '')?.[1];
  if (key === undefined) throw new Refusal(401, 'UNAUTHENTICATED', 'Send your API key.');
  let caller = callers.get(key);
  if (caller === undefined) {
    const [found] = (await pool.query<Caller>(COMPANY_OF_KEY([createHash('sha256').update(key).digest()]))).rows;
    if (found === undefined) throw new Refusal(401, 'UNAUTHENTICATED', 'The API key is not known.');
    callers.set(key, (caller = found));
  }
  response.locals['companyId'] = caller.id;
  // Report whichever limit is closer.
  const [own, company] = await Promise.all([ofKeys.consume(caller.user_id), ofCompanies.consume(caller.id)]).catch((): never => {
    throw new Refusal(429, 'RATE_LIMITED', 'Too many requests.');
  });
  const near =
    own.remainingPoints <= company.remainingPoints
      ? { name: 'writes', quota: perMinute, ...remaining(own) }
      : { name: 'company-writes', quota: COMPANY_FACTOR * perMinute, ...remaining(company) };
  response.set('RateLimit-Policy', `"${near.name}";q=${near.quota};w=${WINDOW_SECONDS}`).set('RateLimit', `"${near.name}";r=${near.left};t=${near.seconds}`);
  return caller;
}

const remaining = ({ remainingPoints: left, msBeforeNext }: RateLimiterRes) => ({ left, seconds: Math.ceil(msBeforeNext / 1000) });

function keyOf(request: express.Request): string {
  const key = request.get('idempotency-key') ?? '';
  if (key.length < 8 || key.length > 128) throw new Refusal(400, 'INVALID_FIELD', 'Send an Idempotency-Key of 8 to 128 characters.');
  return key;
}

function validated(given: unknown, ids: readonly string[], times: readonly string[]): Asked {
  const body = given as Asked;
  for (const name of ids)
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(body[name] ?? '')) throw new Refusal(400, 'INVALID_FIELD', `${name} must be a UUID.`);
  for (const name of times)
    if (typeof body[name] !== 'string' || Number.isNaN(Date.parse(body[name]))) throw new Refusal(400, 'INVALID_FIELD', `${name} must be a time.`);
  if (!/^[0-9a-f]{64}$/.test(body['expected_revision'] ?? '')) throw new Refusal(400, 'INVALID_FIELD', 'expected_revision must be a revision.');
  return body;
}

function answer(response: express.Response, { time_zone }: Caller, { status, location, response: body }: Answer): void {
  if (location !== null) response.set('Location', location);
  const requestId = response.locals['requestId'] as string;
  response.status(status).set('Cache-Control', 'private, no-store').set('X-Request-Id', requestId);
  response.json({ ...(body as object), meta: { request_id: requestId, generated_at: new Date().toISOString(), timezone: time_zone } });
}
