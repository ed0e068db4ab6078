// The clients for TypeScript and Python, and the request bodies in the API description, against the whole system.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '@truckroll/local-stack';
import { Chance } from '../tools/cli/src/simulate/chance.ts';
import { TruckrollError, createClient, type Client, type Retry } from '../packages/client/src/index.ts';
import * as line from '../services/scheduling/test/records.ts';
import { pythonTools } from './python/tools.ts';
import { dispatchDesk, type DispatchDesk } from './support/dispatch.ts';
import { openFaultyProxy } from './support/faulty-proxy.ts';
import { startSystem, type System } from './support/system.ts';

const VISITS = 20;
const ROUNDS = 10;
const TIMES = { starts_at: '2026-03-02T15:00:00Z', ends_at: '2026-03-02T16:00:00Z' };

let system: System;
let desk: DispatchDesk;
let api: Client;

beforeAll(async () => {
  system = await startSystem();
  desk = await dispatchDesk(system);
  api = createClient({ baseUrl: system.baseUrl, token: desk.company.apiKey });
}, 120_000);
afterAll(() => system.stop());

/** Changes of the visits, and keys of all writes of the company. */
async function effectsOn(visits: readonly Record<string, any>[]): Promise<unknown> {
  const { rows } = await system.database.query({
    text: `select (select sum(event_sequence)::int from scheduling.job_appointments where company_id = $1 and id = any($2::uuid[])) as effects,
      (select count(*)::int from scheduling.idempotency_keys where company_id = $1) as keys`,
    values: [desk.company.id, visits.map(({ id }) => id)],
  });
  return rows[0];
}

describe('the client for TypeScript', () => {
  test(`does each of ${2 * VISITS * ROUNDS} writes once, and reads every record once, through resets, 5xx and 429`, async () => {
    const proxy = await openFaultyProxy(system.baseUrl, new Chance(15), 0.2);
    const retries: Retry[] = [];
    const through = createClient({ baseUrl: proxy.url, token: desk.company.apiKey, retries: 12, onRetry: (retry) => retries.push(retry) });
    try {
      const visits = await Promise.all(Array.from({ length: VISITS }, () => desk.visit()));
      await Promise.all(
        visits.map(async ({ id, revision }) => {
          for (let [round, expected_revision] = [0, revision as string]; round < ROUNDS; round++) {
            const added = await through.post('/v1/job-assignments', {
              body: { expected_revision, appointment_id: id, team_member_id: desk.technicians[0], ...TIMES },
            });
            expect(added.data.assignments).toHaveLength(1);
            const path = { id: added.data.assignments[0]!.id };
            ({
              data: { revision: expected_revision },
            } = await through.delete('/v1/job-assignments/{id}', { path, body: { expected_revision: added.data.revision } }));
          }
        }),
      );
      expect(await effectsOn(visits)).toEqual({ effects: 2 * VISITS * ROUNDS, keys: 2 * VISITS * ROUNDS });

      const read: string[] = [];
      for await (const visit of through.list('/v1/job-appointments', { query: { limit: 3 } })) read.push(visit.id);
      expect(read.toSorted()).toEqual(visits.map(({ id }) => id as string).toSorted());
      expect([...proxy.met].filter(([, count]) => count === 0)).toEqual([]);
      expect(retries.length).toBeGreaterThanOrEqual([...proxy.met.values()].reduce((sum, count) => sum + count, 0));
    } finally {
      await proxy.close();
    }
  }, 120_000);

  test('reports a stale revision at once, with the current revision, and does not retry', async () => {
    const visit = await desk.visit();
    const retries: Retry[] = [];
    const watched = createClient({ baseUrl: system.baseUrl, token: desk.company.apiKey, onRetry: (retry) => retries.push(retry) });
    const body = { expected_revision: 'e'.repeat(64), appointment_id: visit['id'], team_member_id: desk.technicians[0], ...TIMES };
    const error: TruckrollError = await watched.post('/v1/job-assignments', { body }).then(
      () => undefined,
      (reason) => reason,
    );
    expect(error).toBeInstanceOf(TruckrollError);
    expect([error.code, error.status, error.currentRevision]).toEqual(['STALE_REVISION', 409, visit['revision']]);
    expect(error.requestId).toBe(error.response.headers.get('x-request-id'));
    expect(retries).toEqual([]);
  });

  test('pages through reports and /api/v1 by cursor', async () => {
    const query = { start_date: '2026-01-01', end_date: '2026-04-01', limit: 2 };
    const pages: number[] = [];
    for await (const page of api.pages('/v1/reports/invoice-activity', { query })) pages.push(page.data.length);
    expect(pages).toEqual([2, 1]);
    const user = createClient({ baseUrl: system.baseUrl, token: () => system.userToken(desk.company) });
    const endpoint = await user.post('/api/v1/integrations/webhooks', {
      body: { name: 'Paged', url: 'https://example.com/hook', eventTypes: ['interaction.completed'], enabled: false },
    });
    const path = { id: endpoint.data.id };
    for (let i = 0; i < 3; i++) await user.post('/api/v1/integrations/webhooks/{id}/test', { path });
    const types: string[] = [];
    for await (const delivery of user.list('/api/v1/integrations/webhooks/{webhookId}/deliveries', { path: { webhookId: path.id }, query: { limit: 2 } }))
      types.push(delivery.eventType);
    expect(types).toEqual(['webhook.test', 'webhook.test', 'webhook.test']);
    await user.delete('/api/v1/integrations/webhooks/{id}', { path });
  });

  test('returns a CSV report unchanged', async () => {
    const query = { start_date: '2026-01-01', end_date: '2026-02-01' };
    const answer = await api.raw('get', '/v1/reports/collections', { query, headers: { accept: 'text/csv' } });
    expect([answer.headers.get('content-type'), (await answer.text()).split('\r\n').length]).toEqual([expect.stringMatching(/^text\/csv/), 3]);
  });
});

/** PYTHON_ROUNDS=25 makes 1,000 writes. */
const PYTHON_ROUNDS = Number(process.env['PYTHON_ROUNDS'] ?? 5);

test(`the client for Python does each of ${2 * VISITS * PYTHON_ROUNDS} writes once through resets, 5xx and 429, and keeps a copy that equals what the API returns`, async () => {
  const proxy = await openFaultyProxy(system.baseUrl, new Chance(16), 0.2);
  const before = (await effectsOn([])) as { keys: number };
  try {
    const visits = await Promise.all(Array.from({ length: VISITS }, () => desk.visit()));
    const program = join(ROOT, 'clients/python/tests/programs/campaign.py');
    const env = { PYTHONPATH: join(ROOT, 'clients/python/src'), TRUCKROLL_URL: proxy.url, TRUCKROLL_API_KEY: desk.company.apiKey };
    const ids = visits.map(({ id }) => String(id));
    const { stdout } = await promisify(execFile)(join(pythonTools(), 'python'), [program, String(desk.technicians[0]), String(PYTHON_ROUNDS), ...ids], { env });
    const { read, records, kinds, equal } = JSON.parse(stdout);
    const writes = 2 * VISITS * PYTHON_ROUNDS;
    expect(await effectsOn(visits)).toEqual({ effects: writes, keys: before.keys + writes });
    const expected = new Map<string, unknown>();
    for await (const visit of api.jobAppointments.list({ limit: 100 })) expected.set(visit.id, visit);
    expect(read.toSorted()).toEqual([...expected.keys()].toSorted());
    expect(new Map(Object.entries<string>(records).map(([id, record]) => [id, JSON.parse(record)]))).toEqual(expected);
    expect([equal, kinds['job-appointments'], kinds['team-members'] > 0]).toEqual([true, expected.size, true]);
  } finally {
    await proxy.close();
  }
}, 600_000);

interface Described {
  verb: string;
  path: string;
  example: Record<string, any>;
}

describe('the request bodies in the description', () => {
  const document = JSON.parse(readFileSync(new URL('../gateway/openapi.json', import.meta.url), 'utf8'));
  const described: Described[] = Object.entries<Record<string, any>>(document.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).flatMap(([verb, { requestBody }]) =>
      requestBody === undefined ? [] : [{ verb: verb.toUpperCase(), path, example: requestBody.content['application/json'].example }],
    ),
  );

  test('are accepted unchanged, except for the visit’s revision and a user’s address, each by its operation', async () => {
    const bodyOf = (verb: string, path: string): Record<string, any> => described.find((each) => each.verb === verb && each.path === path)!.example;
    const { appointment_id, team_member_id, customer_notification } = bodyOf('POST', '/v1/job-assignments');
    await desk.store('job-appointments', line.visit({ id: appointment_id, job_id: desk.job['id'] }));
    await desk.store('team-members', desk.member({ id: team_member_id }));
    const email = { type: 'EMAIL', value: 'ines@example.com' };
    const stamps = { created_at: desk.account['created_at'], updated_at: desk.account['updated_at'] };
    await desk.store('contacts', {
      id: customer_notification.contact_id,
      account: line.ref(desk.account['id']),
      name: 'Inés Núñez',
      first_name: null,
      last_name: null,
      title: null,
      is_primary: true,
      archived: false,
      primary_channel: email,
      channels: [{ id: randomUUID(), ...email, is_primary: true, opted_out: false }],
      ...stamps,
    });

    const { body: me } = await system.get(desk.company, '/api/v1/me');
    const withAddress = (body: object): object => JSON.parse(JSON.stringify(body).replaceAll('dana@example.com', me.data.email)) as object;
    let id = '';
    for (const { verb, path, example } of described.toSorted((a, b) => order(a) - order(b))) {
      const isWrite = path.startsWith('/v1/');
      const body = isWrite ? { ...example, expected_revision: (await desk.read(appointment_id))['revision'] } : withAddress(example);
      const response = await fetch(`${system.baseUrl}${path.replace('{name}', 'Overdue').replace(/\{\w+\}/, id)}`, {
        method: verb,
        headers: {
          authorization: `Bearer ${system.userToken(desk.company)}`,
          'content-type': 'application/json',
          ...(isWrite && { 'idempotency-key': randomUUID() }),
        },
        body: JSON.stringify(body),
      });
      const answer = (await response.json()) as { data: Record<string, any> };
      if (!response.ok) throw new Error(`${verb} ${path} refuses its example: ${JSON.stringify(answer)}`);
      if (response.status === 201) id = isWrite ? answer.data['assignments'][0].id : answer.data['id'];
    }
    expect(described).toHaveLength(10);
  });

  function order({ path, verb }: Described): number {
    return (
      ['POST /v1/job-assignments', 'DELETE /v1/job-assignments/{id}', 'POST /api/v1/integrations/api-keys', 'POST /api/v1/integrations/webhooks'].indexOf(
        `${verb} ${path}`,
      ) + (path.includes('webhooks/') ? 10 : 0)
    );
  }
});
