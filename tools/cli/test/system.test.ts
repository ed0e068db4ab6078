import { randomUUID } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { WebhookServiceService } from '@truckroll/contract/gen/integrations/v1/webhooks';
import { Tag } from '@truckroll/contract/gen/scheduling/v1/tags';
import { newCallCredential, openChannel } from '@truckroll/grpc';
import { testCaller } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { startSystem, truckroll } from './system.ts';

let system: Awaited<ReturnType<typeof startSystem>>;
beforeAll(async () => void (system = await startSystem()), 60_000);
afterAll(() => system.stop(), 30_000);

async function jsonWith<T>(secrets: Record<string, string>, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await truckroll([...args, '--json'], { ...system.env, ...secrets }, system.folder);
  expect({ code, stderr: stderr.replace(/^.*left alone.*\n/gm, '') }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as T;
}

const json = <T = Record<string, string>>(...args: string[]): Promise<T> => jsonWith<T>({}, ...args);

async function companyWithKey(name: string) {
  const { id: company = '' } = await json('company', 'create', '--name', name, '--timezone', 'America/Chicago');
  const { id: user = '' } = await json('user', 'create', '--company', company, '--email', 'ana@example.com', '--first-name', 'Ana', '--last-name', 'Ruiz');
  const { id: key = '', value = '' } = await json('key', 'create', '--company', company, '--user', user, '--name', 'Test', '--reads-per-minute', '100000');
  return { company, user, key, value };
}

const status = async (credential: string): Promise<number> =>
  (await fetch(`${system.env['TRUCKROLL_URL']}/v1/company`, { headers: { authorization: `Bearer ${credential}` } })).status;

const is401 = (code: number): boolean => code === 401;
/** A revocation takes effect within it (decisions §8). */
const A_SECOND = { atMostMs: 1000 };

const contents = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => name.endsWith('.ndjson'))
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );

/** Runs `verify` and returns its result for the current rules; its read models may not be up to date yet. */
async function verified(company: string) {
  const { code, stdout, stderr } = await system.truckroll('verify', '--company', company, '--json');
  expect(stderr).toBe('');
  return { code, ...(JSON.parse(stdout) as { checked: number; broken: Record<string, string>[] }) };
}

interface ImportSummary {
  created: number;
  changed: number;
  unchanged: number;
  refused: number;
}

test('probe says whether an installation works, including its owner of keys and its database', async () => {
  const served = await system.truckroll('probe', '--json');
  expect({ code: served.code, ...(JSON.parse(served.stdout) as object) }).toMatchObject({ code: 0, serves: true, faults: [] });
  const away = await system.truckroll('probe', '--url', 'http://127.0.0.1:1');
  expect(away.code).toBe(3);
  expect(away.stdout.split('\n')[0]).toContain('GET /readyz without a key was not answered: ');
});

test('catch-up shows every run, and does a task again in the services that have it', async () => {
  const { runs } = await json<{ runs: { service: string; task: string; subject: string }[] }>('catch-up');
  expect(runs).toEqual(expect.arrayContaining([expect.objectContaining({ service: 'integrations', task: 'feed', subject: 'company', done: true })]));
  const again = await json<{ runs: typeof runs }>('catch-up', 'publish', '--service', 'billing');
  expect(again.runs.map(({ service, subject }) => `${service} ${subject}`).sort()).toEqual(['billing invoices', 'billing payments', 'billing refunds']);
  expect((await system.truckroll('catch-up', 'publish', '--service', 'reporting')).stderr).toContain('give scheduling or billing');
  expect((await system.truckroll('catch-up', 'groom')).stderr).toContain('give publish or feed');
});

test('publish is what the previous release called catch-up publish', async () => {
  const { published } = await json<{ published: Record<string, number> }>('publish', 'billing');
  expect(Object.keys(published).sort()).toEqual(['invoices', 'payments', 'refunds']);
});

test('endpoints shows the state of all companies’ endpoints, only to the operator', async () => {
  const { company, user } = await companyWithKey('Hooked');
  const channel = openChannel(system.env['INTEGRATIONS_ADDRESS'] ?? '', { credentials: [testCaller('gateway')] });
  const caller = { company_id: company, time_zone: 'America/Chicago', user_id: user };
  const { data } = await channel
    .client(WebhookServiceService)
    .createWebhook({ caller, name: 'Lead sync', url: 'https://example.com/hook?secret=7', event_types: ['interaction.completed'] });
  channel.close();
  const { endpoints } = await json<{ endpoints: Record<string, unknown>[] }>('endpoints', '--company', company, '--state', 'idle', '--state', 'failing');
  expect(endpoints).toMatchObject([
    { id: data?.id, company_name: 'Hooked', host: 'example.com', health: { state: 'idle', circuit: { state: 'closed' }, backlog: 0 } },
  ]);
  const shown = await system.truckroll('endpoints', '--company', company);
  expect(shown.stdout).toMatch(/^STATE .*\nidle .* Hooked +Lead sync +example\.com +[0-9a-f-]{36}\n$/);
  expect((await system.truckroll('endpoints', '--state', 'sad')).stderr).toContain('failing');
  const stranger = await truckroll(['endpoints'], { ...system.env, CALL_CREDENTIAL: testCaller('gateway').text }, system.folder);
  expect(stranger.code).not.toBe(0);
  expect(stranger.stdout).toBe('');
});

test('import accepts an export of another company, exports it again unchanged, and changes nothing the second time', async () => {
  const demo = await json('demo', '--seed', '11', '--size', '20');
  const [from, to] = [join(system.folder, 'from'), join(system.folder, 'to')];
  const { records } = await jsonWith<{ records: number }>({ TRUCKROLL_API_KEY: demo['api_key'] ?? '' }, 'export', from);
  expect(records).toBeGreaterThan(500);

  const third = await companyWithKey('Third');
  const first = await json<ImportSummary>('import', from, '--company', third.company);
  // The line changes the job financial that exists as soon as its job does.
  expect(first.created + first.changed + first.unchanged).toBe(records);
  const second = await json<ImportSummary>('import', from, '--company', third.company);
  expect(second).toMatchObject({ created: 0, changed: 0, unchanged: records, refused: 0 });

  // Imported records obey the rules for imports. Job classes belong to no company: they are the same everywhere.
  const jobClasses = contents(from)['job-classes.ndjson']!.trim().split('\n').length;
  const { checked, broken } = await verified(third.company);
  expect({ checked, broken }).toEqual({ checked: records - jobClasses, broken: [] });

  // Values derived from another service's records follow within moments.
  const differing = async (): Promise<string[]> => {
    await jsonWith({ TRUCKROLL_API_KEY: demo['api_key'] ?? '' }, 'export', from);
    await jsonWith({ TRUCKROLL_API_KEY: third.value }, 'export', to);
    const [left, right] = [contents(from), contents(to)];
    return Object.keys({ ...left, ...right }).filter((name) => left[name] !== right[name]);
  };
  await until('equal exports', differing, ({ length }) => length === 0);
  expect(JSON.parse(readFileSync(join(to, 'company.json'), 'utf8'))).toMatchObject({ id: third.company, name: 'Third', currency: 'USD' });
}, 120_000);

test('reports a bad line with its file, line, field and reason, and imports the others', async () => {
  const { company } = await companyWithKey('Bad lines');
  const tag = {
    id: '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e',
    name: 'VIP',
    color: null,
    applies_to: ['ACCOUNT'],
    archived_at: null,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
  };
  const file = join(system.folder, 'tags.ndjson');
  const lines = [JSON.stringify({ ...tag, id: 'x', color: 'red' }), '', '{"id":', JSON.stringify(tag)];
  writeFileSync(file, lines.map((line) => `${line}\r\n`).join(''));
  const { code, stdout, stderr } = await system.truckroll('import', file, '--company', company);
  expect(code).toBe(1);
  expect(stderr.split('\n').slice(0, 3)).toEqual([
    expect.stringMatching(/tags\.ndjson:1 id: Give a UUID/),
    expect.stringMatching(/tags\.ndjson:1 color: Give a colour as #RRGGBB\./),
    expect.stringMatching(/tags\.ndjson:3 .*one JSON object/),
  ]);
  expect(stdout).toMatch(/tags +3 +1 +0 +0 +2/);

  const again = await system.truckroll('import', file, '--company', company, '--json');
  expect(again.code).toBe(1);
  expect(JSON.parse(again.stdout)).toMatchObject({ unchanged: 1, refused: 2 });
  expect(
    again.stderr
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { line: number }).line),
  ).toEqual([1, 1, 3]);
});

test('reports an id that is repeated hundreds of lines later, and counts every line once', async () => {
  const { company } = await companyWithKey('Twice');
  const file = join(system.folder, 'tags.ndjson');
  const tag = (id: string, name: string) =>
    JSON.stringify({
      id,
      name,
      color: null,
      applies_to: ['ACCOUNT'],
      archived_at: null,
      created_at: '2026-01-01T00:00:00Z',
      updated_at: '2026-01-01T00:00:00Z',
    });
  const ids = Array.from({ length: 600 }, () => randomUUID());
  writeFileSync(file, [...ids, ids[3] as string].map((id, index) => `${tag(id, `Tag ${index}`)}\n`).join(''));
  const { code, stdout, stderr } = await system.truckroll('import', file, '--company', company, '--json');
  expect({ code, ...(JSON.parse(stdout) as ImportSummary) }).toMatchObject({ code: 1, created: 600, changed: 1, unchanged: 0, refused: 0, repeated: 1 });
  expect(JSON.parse(stderr)).toMatchObject({ line: 4, field: 'id', message: 'Line 601 has the same id and has replaced this one: leave one of them out.' });
});

test('imports what its owner accepts, whatever else is in the files and the folder', async () => {
  const { company } = await companyWithKey('Strange files');
  const folder = join(system.folder, 'strange');
  mkdirSync(folder);
  const put = (name: string, content: string | Buffer) => writeFileSync(join(folder, name), content);
  const tags = (count: number, more = {}) =>
    Array.from({ length: count }, (_, n) => ({
      ...{ id: randomUUID(), name: `Tag ${n}`, color: null, applies_to: ['ACCOUNT'], archived_at: null },
      ...{ created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' },
      ...more,
    }));
  const lines = (records: readonly unknown[], end = '\n') => records.map((record) => JSON.stringify(record) + end).join('');
  const refused = [
    Buffer.from('{"name":"\xff"}\n', 'latin1'),
    Buffer.from('\0\n{"a":"\0"}\n'),
    Buffer.from(lines(tags(2), '\r')),
    Buffer.from(`\n${'['.repeat(1_000_000)}\n`),
    Buffer.from(`{"a":${'{"a":'.repeat(200_000)}1${'}'.repeat(200_001)}\n`),
    Buffer.from(`${'9'.repeat(5_000_000)}\nnull\n[]\n" "\n`),
  ];
  put('tags.ndjson', Buffer.concat([Buffer.from(lines(tags(600))), Buffer.from(`\uFEFF${lines(tags(3))}\uFEFF\uFEFF${lines(tags(1))}\uFEFF`)]));
  put('tags.jsonl', `\uFEFF${lines(tags(2), '\r\n')}${' '.repeat(6_000_000)}${JSON.stringify(tags(1)[0])}`);
  put('TAGS.ndjson.gz', gzipSync(lines(tags(4))));
  put('Tags.jsonl', Buffer.concat(refused));
  put('tAgs.ndjson', '');
  put('._tags.ndjson', Buffer.from([0, 5, 22, 7]));
  put('tags (1).ndjson', lines(tags(1)));
  put('accounts.ndjson.gz', gzipSync(`{}\n`.repeat(10)).subarray(0, -4));
  mkdirSync(join(folder, 'jobs.ndjson'));
  spawnSync('mkfifo', [join(folder, 'locations.ndjson')]);
  symlinkSync('contacts.ndjson', join(folder, 'contacts.ndjson'));
  const { code, stdout, stderr } = await system.truckroll('import', folder, '--company', company, '--json');
  const { created, refused: bad } = JSON.parse(stdout) as ImportSummary;
  const named = stderr.split('\n').filter((line) => line.includes('not read'));
  // The bad lines of `refused`, and ten of accounts with the place where that file ends.
  expect({ code, created, bad }).toEqual({ code: 1, created: 611, bad: 10 + 11 });
  expect(named.map((line) => line.slice(folder.length + 1).split(':')[0])).toEqual(['contacts.ndjson', 'jobs.ndjson', 'locations.ndjson', 'tags (1).ndjson']);
  expect(stderr).toContain('the gzip file ends early');
});

test('verify lists records stored before a rule existed, by field and reason, until corrected ones are imported', async () => {
  const { company } = await companyWithKey('Older rules');
  const tag = {
    id: '5b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e',
    name: 'VIP',
    color: '#ff0000',
    applies_to: ['ACCOUNT'],
    archived_at: null,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
  };
  const file = join(system.folder, 'tags.ndjson');
  writeFileSync(file, JSON.stringify(tag));
  await json('import', file, '--company', company);
  expect(await verified(company)).toMatchObject({ code: 0, checked: 1, broken: [] });

  const { database } = system;
  const { rows } = await database.query<{ document: Buffer }>({ text: 'select document from scheduling.tags where company_id = $1', values: [company] });
  const document = Buffer.from(Tag.encode({ ...Tag.decode(rows[0]!.document), color: 'red' }).finish());
  await database.query({ text: 'update scheduling.tags set document = $2 where company_id = $1', values: [company, document] });
  expect(await verified(company)).toMatchObject({
    code: 1,
    checked: 1,
    broken: [{ company, path: 'tags', id: tag.id, field: 'color', code: 'INVALID_FORMAT' }],
  });
  const { stdout } = await system.truckroll('verify', '--company', company);
  expect(stdout).toMatch(new RegExp(`${company} +tags +${tag.id} +color +Give a colour as #RRGGBB\\.\n1 records checked, 1 break a rule of now`));

  await json('import', file, '--company', company);
  expect((await verified(company)).code).toBe(0);
});

test('prints text from a file so that it cannot control the terminal', async () => {
  const { company } = await companyWithKey('Control characters');
  const file = join(system.folder, 'tags.ndjson');
  writeFileSync(file, '{"\\u001b[2J\\u202e\\n":1}\n');
  const { stderr } = await system.truckroll('import', file, '--company', company);
  expect(stderr).toContain('\\u001b[2J\\u202e\\u000a: Remove it');
  expect(stderr).not.toMatch(/[\u001b\u202e]/);
});

test('import --dry-run says what would happen to each line, and stores nothing', async () => {
  const { company } = await companyWithKey('Tried');
  const file = join(system.folder, 'tags.ndjson');
  const tag = {
    id: randomUUID(),
    name: 'VIP',
    color: '#ff0000',
    applies_to: ['ACCOUNT'],
    archived_at: null,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
  };
  writeFileSync(file, [tag, { ...tag, id: randomUUID(), color: 'red' }].map((line) => `${JSON.stringify(line)}\n`).join(''));
  const tried = await system.truckroll('import', file, '--company', company, '--dry-run', '--json');
  const imported = await system.truckroll('import', file, '--company', company, '--json');
  const resultOf = ({ code, stdout, stderr }: typeof tried) => ({ code, stderr, ...(JSON.parse(stdout) as ImportSummary), seconds: 0, files: [] });
  expect(resultOf(tried)).toMatchObject({ code: 1, dry_run: true, created: 1, refused: 1, stderr: expect.stringContaining('color') });
  // If the first run had stored anything, the second would report it unchanged.
  expect({ ...resultOf(imported), dry_run: true }).toEqual(resultOf(tried));
});

test('a rotated key works only with its new value', async () => {
  const { key, value } = await companyWithKey('Rotated');
  expect(await status(value)).toBe(200);
  const { id, value: next = '' } = await json('key', 'rotate', key);
  expect([id, await status(next)]).toEqual([key, 200]);
  await until('the old value to be refused', () => status(value), is401, A_SECOND);
  expect(await status(next)).toBe(200);
  expect((await system.truckroll('key', 'rotate', randomUUID())).stderr).toContain('truckroll key list');
});

test('a key works until it is revoked', async () => {
  const { company, key, value } = await companyWithKey('Keys');
  expect(await status(value)).toBe(200);
  await json('key', 'revoke', key);
  await until('the key to be refused', () => status(value), is401, A_SECOND);
  const { stdout } = await system.truckroll('key', 'list', '--company', company);
  expect(stdout).toMatch(new RegExp(`${key}  Test  ${value.slice(0, 8)}…${value.slice(-4)}  revoked .* reads 100000/min`));
});

test('the demo of a local installation is created once and found again, also after its key was revoked', async () => {
  const made = await json('demo', '--ensure', '--size', '20');
  const { companies } = JSON.parse(readFileSync(join(system.folder, '.truckroll/demo-companies.json'), 'utf8')) as { companies: { companyId: string }[] };
  expect(companies).toHaveLength(2);
  const found = await json('demo', '--ensure', '--size', '20');
  expect({ ...found, userToken: '' }).toEqual({ ...made, userToken: '' });

  const keys = await json<{ id: string }[]>('key', 'list', '--company', companies[0]?.companyId ?? '');
  await json('key', 'revoke', keys[0]?.id ?? '');
  const repaired = await json('demo', '--ensure', '--size', '20');
  expect(repaired['apiKey']).not.toBe(made['apiKey']);
  expect(repaired['otherApiKey']).toBe(made['otherApiKey']);
  expect(await status(repaired['apiKey'] ?? '')).toBe(200);
}, 60_000);

test('a sandbox is filled at once, and its answers say what it is', async () => {
  const sandbox = await json('company', 'create', '--sandbox', '--size', '3', '--name', 'Trial', '--timezone', 'America/Chicago');
  const plain = await companyWithKey('Real');
  const jobs = async (key: string | undefined) =>
    await (await fetch(`${system.env['TRUCKROLL_URL']}/v1/jobs`, { headers: { authorization: `Bearer ${key}` } })).json();
  expect(await jobs(sandbox['api_key'])).toMatchObject({ data: { length: 3 }, meta: { sandbox: true } });
  expect((await jobs(plain.value)).meta).not.toHaveProperty('sandbox');
});

test('lists and retries dead letters, also by the previous release’s name of the command', async () => {
  expect(await system.truckroll('dead-letters', 'list')).toEqual({ code: 0, stdout: 'There are no dead letters.\n', stderr: '' });
  expect(await json('parked', 'list')).toEqual({ events: [], more: 0 });
  expect(await system.truckroll('parked', 'retry')).toEqual({
    code: 0,
    stdout: 'integrations: 0 applied\nbilling: 0 applied\nreporting: 0 applied\n',
    stderr: '',
  });
});

test('exit codes distinguish wrong usage, a rejection and an unavailable service', async () => {
  const code = async (env: Record<string, string>, ...args: string[]) => (await truckroll(args, env, system.folder)).code;
  expect(await code(system.env, '--help')).toBe(0);
  expect(await code(system.env, 'compnay')).toBe(2);
  expect(await code(system.env, 'company', 'create')).toBe(2);
  expect(await code(system.env, 'company', 'create', '--name', 'x', '--timezone', 'America/Chicago', '--size', '3')).toBe(2);
  expect(await code(system.env, 'company', 'create', '--name', 'x', '--timezone', 'Mars/Base')).toBe(1);
  expect(await code(system.env, 'user', 'deactivate', '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e')).toBe(1);
  expect(await code(system.env, 'verify', '--company', '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e')).toBe(1);
  expect(await code({ INTEGRATIONS_ADDRESS: '127.0.0.1:1' }, 'company', 'list')).toBe(3);
  const nowhere = await truckroll(['company', 'list'], {}, system.folder);
  expect(nowhere.stderr).toMatch(/^No address of integrations is known: run `npm start` here, or set INTEGRATIONS_ADDRESS=host:port\.\n$/);
});

test('does nothing without the operator’s credential, and says what to set', async () => {
  const { CALL_CREDENTIAL, ...without } = system.env;
  const list = (env: Record<string, string>) => truckroll(['company', 'list'], env, system.folder);
  expect(CALL_CREDENTIAL).toMatch(/^operator\./);
  expect(await list(without)).toMatchObject({ code: 3, stderr: expect.stringContaining('set CALL_CREDENTIAL or CALL_CREDENTIAL_FILE') });
  const other = await list({ ...without, CALL_CREDENTIAL: newCallCredential('operator').text });
  expect(other).toMatchObject({ code: 3, stderr: expect.stringMatching(/refused your credential: set CALL_CREDENTIAL/) });
  expect(await list({ ...without, CALL_CREDENTIAL: 'hunter2' })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^CALL_CREDENTIAL is invalid(?!.*hunter2)/),
  });
  const file = join(system.folder, 'credential');
  writeFileSync(file, `${CALL_CREDENTIAL}\n`);
  expect(await list({ ...without, CALL_CREDENTIAL_FILE: file })).toMatchObject({ code: 0 });
});

test('audit shows what operators changed, for one company or for all, without the values of keys', async () => {
  const { company, value } = await companyWithKey('Audited');
  const listed = await json<{ action: string; actor: object; after: object }[]>('audit', '--company', company);
  expect(listed.map(({ action }) => action)).toEqual(['audit_admin.list_audit_trail', 'api_key.created', 'user.created', 'company.created']);
  for (const { actor } of listed) expect(actor).toEqual({ kind: 'OPERATOR', id: 'operator', name: 'operator' });
  expect(listed[3]?.after).toMatchObject({ id: company, name: 'Audited' });
  expect(JSON.stringify(listed)).not.toContain(value.slice(8, -4));
  expect(await json('audit', '--action', 'user.created', '--actor', 'operator', '--limit', '1')).toHaveLength(1);
  expect(await json('audit', '--company', company, '--before', '2020-01-01')).toEqual([]);
  expect((await system.truckroll('audit', '--company', company)).stdout).toContain('operator operator  api_key.created');
});
