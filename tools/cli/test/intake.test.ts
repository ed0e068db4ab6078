import { randomUUID } from 'node:crypto';
import { run } from '../src/run.ts';
import { startSystem, truckroll } from './system.ts';

type Json = Record<string, any>;

let system: Awaited<ReturnType<typeof startSystem>>;
let demo: { company_id: string; api_key: string };
beforeAll(async () => {
  system = await startSystem();
  demo = await system.demo(5, 80);
}, 120_000);
afterAll(() => system.stop(), 30_000);

async function json(...args: string[]): Promise<Json> {
  const { code, stdout, stderr } = await system.truckroll(...args, '--json');
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Json;
}

async function read(path: string): Promise<Json> {
  const response = await fetch(`${system.env['TRUCKROLL_URL']}${path}`, { headers: { authorization: `Bearer ${demo.api_key}` } });
  return (await response.json()) as Json;
}

const intake = (...args: string[]) => json('intake', ...args, '--company', demo.company_id);

test('records a service request, takes it to its end, and shows it', async () => {
  const [account] = (await read('/v1/accounts?limit=1'))['data'];
  const [visit] = (await read('/v1/job-appointments?canceled=false&dispatch_status=UNASSIGNED&limit=1'))['data'];
  const id = randomUUID();
  const request = ['request', '--id', id, '--channel', 'phone', '--summary', 'AC not cooling', '--account', account.id, '--wants-from', '2027-01-31T15:00:00Z'];
  const recorded = await intake(...request);
  expect(recorded).toMatchObject({ id, status: 'NEW', channel: 'PHONE', account: { name: account.name }, requested_starts_at: '2027-01-31T15:00:00Z' });
  expect(await intake(...request)).toEqual(recorded);
  expect(await intake('status', id, 'contacted')).toMatchObject({ status: 'CONTACTED' });
  expect(await intake('book', id, '--job', visit.job_id, '--appointment', visit.id)).toMatchObject({ status: 'BOOKED', appointment_id: visit.id });
  expect(await intake('status', id, 'closed', '--reason', 'Went elsewhere')).toMatchObject({ status: 'CLOSED', closed_reason: 'Went elsewhere' });
  expect(await intake('show', id)).toMatchObject({ status: 'CLOSED' });

  const refused = await system.truckroll('intake', 'status', id, 'contacted', '--company', demo.company_id);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('is CLOSED and cannot become CONTACTED: it is final') });
});

test('records and completes an interaction', async () => {
  const { id, status } = await intake('interaction', '--channel', 'call', '--direction', 'inbound', '--started', '2027-01-31T15:00:00Z');
  expect(status).toBe('IN_PROGRESS');
  const completed = await intake('complete', id, '--outcome', 'Booked', '--ended', '2027-01-31T15:03:20Z');
  expect(completed).toMatchObject({ status: 'COMPLETED', outcome: 'Booked', duration_seconds: 200 });
  for (const record of [['request'], ['interaction', '--direction', 'inbound']]) {
    const unknown = await system.truckroll('intake', ...record, '--channel', 'sms', '--company', randomUUID());
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no company with this id') });
  }
  const wrong = await system.truckroll('intake', 'interaction', '--channel', 'fax', '--direction', 'inbound', '--company', demo.company_id);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('Allowed choices are call, sms, email, chat') });
});

async function simulate(args: string[], onOutput: (soFar: string, stop: () => void) => void = () => undefined) {
  const interruption = new AbortController();
  let [stdout, stderr] = ['', ''];
  const code = await run(['simulate', ...args], {
    env: { ...system.env, TRUCKROLL_API_KEY: demo.api_key },
    cwd: system.folder,
    signal: interruption.signal,
    stdout: { write: (text) => onOutput((stdout += text), () => interruption.abort()) },
    stderr: { write: (text) => (stderr += text) },
  });
  return { code, stdout, stderr };
}

test('leaves the records of a simulated day: requests, technicians assigned by the public API, interactions', async () => {
  const assigned = async () => (await read('/v1/job-assignments?status=TO_DO&limit=100'))['data'].length as number;
  const before = await assigned();
  const { code, stdout, stderr } = await simulate(['--speed', '3000', '--minutes', '400', '--per-hour', '10', '--seed', '7']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const tally = Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .slice(-8)
      .map((line) => line.split(/ +/)),
  );
  expect(Object.keys(tally)).toEqual(['requests', 'interactions', 'booked', 'added', 'removed', 'completed', 'ended', 'refused']);
  expect(Number(tally['added'])).toBeGreaterThan(0);
  expect(tally['refused']).toBe('0');
  expect((await assigned()) - before).toBe(Number(tally['added']) - Number(tally['removed']));
  expect(stdout).toMatch(/^08:\d\d {2}SR-\d+ arrives by (phone|web|sms|email): /m);
}, 60_000);

test('finishes its current work when a day is interrupted, and says how far it got', async () => {
  const { code, stdout, stderr } = await simulate(['--speed', '3000', '--minutes', '100000', '--per-hour', '60'], (soFar, stop) => {
    if (soFar.includes('is booked on')) stop();
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/\n\nrequests +\d+/);
}, 60_000);

test.each([['verify'], ['catch-up', 'publish'], ['rebuild', 'reporting']])('%s %s shows its progress on a terminal', async (...words) => {
  // The read models may not be up to date yet; verify then ends with 1.
  const { stderr } = await truckroll(words, system.env, system.folder, true);
  expect(stderr).toMatch(/\d+ % +[\d,]+ (records|events)/);
});
