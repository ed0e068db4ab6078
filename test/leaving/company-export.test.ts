// An operator hands a company's data over before it is deleted.
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changeKinds, resources } from '@truckroll/contract';
import { until } from '@truckroll/testing/until';
import { companyHash } from '../../packages/outbox/src/index.ts';
import { startReceiver, type Receiver } from '../../services/webhook-dispatcher/test/support/receiver.ts';
import type { Json } from '../support/expected.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { fill, operatorsCommand } from './fill.ts';

const MINUTES = 60_000;
const NAME = 'Quillfeather';
const HEADER = 'planted-value-of-a-header';
const EVERY_COMPANY = '00000000-0000-0000-0000-000000000000';

let system: System;
let receiver: Receiver;
let leaving: TestCompany;
let other: TestCompany;
let endpoint: Json;
let home: string;
let folder: string;

const command = (...args: string[]) => operatorsCommand(system, args, home);
const exported = (to = folder, id = leaving.id) => command('company', 'export', id, '--to', to);
const files = (): string[] => (readdirSync(folder, { recursive: true }) as string[]).filter((name) => statSync(join(folder, name)).isFile()).sort();
const text = (file: string): string => readFileSync(join(folder, file), 'utf8');
const lines = (file: string): Json[] =>
  text(file)
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Json);
const byId = (records: readonly Json[]): Json[] => records.toSorted((a, b) => (a['id'] < b['id'] ? -1 : 1));

/** Rows of the company in the table of each file. */
async function counts(): Promise<Record<string, number>> {
  const kinds = changeKinds
    .filter(({ kind }) => kind !== 'company')
    .map(({ kind, owner }) => [`records/${kind}.ndjson`, `${owner}.${kind.replaceAll('-', '_')}`]);
  const integrations = 'users api_keys views webhook_endpoints webhook_event_log webhook_deliveries mails audit_events request_log'.split(' ');
  const tables = [
    ...kinds,
    ...integrations.map((table) => [`other/${table}.ndjson`, `integrations.${table}`]),
    ['other/notifications.ndjson', 'scheduling.notifications'],
  ];
  const counted = tables.map(async ([file, table]) => {
    const { rows } = await system.database.query<{ count: number }>({
      text: `select count(*) from ${table} where company_id = $1`,
      values: [file === 'records/job-classes.ndjson' ? EVERY_COMPANY : leaving.id],
    });
    return [file, rows[0]!.count] as const;
  });
  return Object.fromEntries(await Promise.all(counted));
}

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'truckroll-export-'));
  folder = join(home, 'lone-star');
  receiver = await startReceiver((response) => void response.writeHead(204).end());
  system = await startSystem({ webhookAllowedTargets: [receiver.target] });
  await system.startDispatcher();
  [leaving, other] = [await system.createCompany(), await system.createCompany()];
  endpoint = await fill(system, receiver, leaving, NAME, 3, [{ name: 'X-Api-Key', value: HEADER }]);
  await fill(system, receiver, other, 'Oldcastle', 4);
  // Several pages: by number, and by bytes.
  const views = `insert into integrations.views (company_id, user_id, name, query, shared) select $1, $2, 'view ' || n, '#/', false from generate_series(1, 1200) n`;
  await system.database.query({ text: views, values: [leaving.id, leaving.userId] });
  const mails = `insert into integrations.mails (company_id, user_id, subject, body, due_at, status)
    select $1, $2, n::text, repeat('x', 8000), now(), 'SENT' from generate_series(1, 400) n`;
  await system.database.query({ text: mails, values: [leaving.id, leaving.userId] });
  const [tag] = (await system.get(leaving, '/v1/tags?limit=1')).body['data'] as Json[];
  const tags = Array.from({ length: 1100 }, (_, n) => ({ ...tag, id: randomUUID(), name: `tag ${n}` }));
  expect((await system.importRecords(leaving, 'tags', tags)).problems).toEqual([]);
}, 3 * MINUTES);
afterAll(async () => {
  await system?.stop();
  await receiver?.close();
  rmSync(home, { recursive: true });
}, MINUTES);

test(
  'an interrupted export is seen as one and goes on',
  async () => {
    const before = await counts();
    await system.stopService('reporting');
    expect(await exported()).toMatchObject({ code: expect.any(Number), stderr: expect.stringContaining('reporting') });
    expect(files()).toContain('unfinished.json');
    expect(files()).not.toContain('manifest.json');
    await system.startService('reporting');
    await until(
      'reporting answers',
      () => system.get(leaving, '/v1/job-financials?limit=1'),
      ({ status }) => status === 200,
    );
    // As if it had been stopped while it was writing this file.
    renameSync(join(folder, 'records/invoices.ndjson'), join(folder, 'records/invoices.ndjson.partial'));
    const kept = statSync(join(folder, 'records/jobs.ndjson')).ino;

    expect(await exported()).toMatchObject({ code: 0 });
    const after = await counts();
    expect(statSync(join(folder, 'records/jobs.ndjson')).ino).toBe(kept);
    const manifest = JSON.parse(text('manifest.json')) as Json;
    expect(manifest).toMatchObject({ company_id: leaving.id, release: 'checkout' });
    expect(files()).toEqual(['manifest.json', ...manifest['files'].map(({ file }: Json) => file)].sort());
    for (const { file, ...is } of manifest['files'] as Json[]) {
      const content = readFileSync(join(folder, file));
      expect({ file, ...is }).toEqual({
        file,
        lines: lines(file).length,
        bytes: content.length,
        sha256: createHash('sha256').update(content).digest('hex'),
      });
      expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
      if (file === 'records/company.json') continue;
      // The trail goes on while it is exported: the export is in it.
      expect([file, is['lines'] >= before[file]!, is['lines'] <= after[file]!]).toEqual([file, true, true]);
    }
    const whole = Object.entries(before).filter(([, count]) => count > 0);
    expect(whole.map(([file]) => file)).toEqual(expect.arrayContaining(['other/webhook_deliveries.ndjson', 'other/mails.ndjson', 'records/timesheets.ndjson']));
  },
  2 * MINUTES,
);

test(
  'records are as the API answers them',
  async () => {
    for (const { path } of resources) {
      const answered: Json[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { body } = await system.get(leaving, `/v1/${path}?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`);
        answered.push(...(body['data'] as Json[]));
        cursor = body['pagination']['next_cursor'] as string | null;
      }
      expect([path, byId(lines(`records/${path}.ndjson`))]).toEqual([path, byId(answered)]);
    }
    expect(JSON.parse(text('records/company.json'))).toEqual((await system.get(leaving, '/v1/company')).body['data']);
  },
  MINUTES,
);

test('other rows are readable, and no secret is in any file', async () => {
  const [delivery] = lines('other/webhook_deliveries.ndjson');
  expect(delivery).toMatchObject({ state: 'SUCCEEDED', log: [{ number: 1, status: 204 }] });
  const event = lines('other/webhook_event_log.ndjson').find(({ id }) => id === delivery!['event_id']);
  expect(event).toMatchObject({ event: { type: 'service_request.created' } });
  expect(lines('other/views.ndjson')).toContainEqual(expect.objectContaining({ name: NAME, shared: true }));
  expect(lines('other/audit_events.ndjson').find(({ action }) => action === 'webhook.created')).toMatchObject({ after: { name: NAME } });

  const { rows } = await system.database.query<{ sealed: string }>({
    text: `select encode(secret, 'hex') as sealed from integrations.webhook_endpoints where company_id = $1
      union all select encode(header_values, 'hex') from integrations.webhook_endpoints where company_id = $1
      union all select encode(hash, 'hex') from integrations.api_keys where company_id = $1`,
    values: [leaving.id],
  });
  const secrets = [endpoint['data']['signingSecret'] as string, HEADER, leaving.apiKey, ...rows.map(({ sealed }) => sealed)];
  expect(secrets.every((secret) => secret.length > 20)).toBe(true);
  for (const file of files()) expect([file, secrets.filter((secret) => text(file).includes(secret))]).toEqual([file, []]);
  for (const file of files()) expect([file, text(file).includes(other.id)]).toEqual([file, false]);
});

test('a second run says what the first one did, and notices changed files', async () => {
  const before = files().map((file) => statSync(join(folder, file)).mtimeMs);
  const { code, stdout } = await exported();
  expect({ code, ...JSON.parse(stdout) }).toEqual({ code: 0, folder, ...JSON.parse(text('manifest.json')) });
  expect(files().map((file) => statSync(join(folder, file)).mtimeMs)).toEqual(before);
  const kept = text('records/tags.ndjson');
  writeFileSync(join(folder, 'records/tags.ndjson'), `${kept}{}\n`);
  expect(await exported()).toMatchObject({ code: 1, stderr: expect.stringContaining('records/tags.ndjson') });
  writeFileSync(join(folder, 'records/tags.ndjson'), kept);
});

test(
  'the records can be imported into a new company',
  async () => {
    const company = await system.createCompany(leaving.timezone);
    const { code, stdout, stderr } = await command('import', join(folder, 'records'), '--company', company.id);
    expect({ code, stderr: stderr.split('\n').filter((line) => !line.includes('left alone')) }).toEqual({ code: 0, stderr: [''] });
    expect(JSON.parse(stdout)).toMatchObject({ refused: 0, created: expect.any(Number) });
    const { rows } = await system.database.query<{ count: number }>({
      text: 'select count(*) from billing.invoices where company_id = $1',
      values: [company.id],
    });
    expect(rows[0]!.count).toBe(lines('records/invoices.ndjson').length);
  },
  MINUTES,
);

test('refuses unknown companies, other folders, and a company that is being deleted', async () => {
  expect(await exported(join(home, 'none'), randomUUID())).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no company') });
  expect(await exported(folder, other.id)).toMatchObject({ code: 1, stderr: expect.stringContaining(`has the export of ${leaving.id}`) });
  expect(await exported(home, other.id)).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') });
  // As another service has marked it, and before integrations has forgotten it. Without an id, so that nothing is removed.
  const mark = 'insert into billing.erased_companies (company_hash, ended_at) values ($1, now())';
  await system.database.query({ text: mark, values: [companyHash(other.id)] });
  const refused = await exported(join(home, 'deleted'), other.id);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('is being deleted') });
  expect(readdirSync(join(home, 'deleted'))).toContain('unfinished.json');
});
