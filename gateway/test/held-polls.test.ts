import type { AwaitedChange } from '@truckroll/contract/gen/records/v1/changes';
import { HeldPolls, type Awaited } from '../src/changes/held-polls.ts';

const ACME = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';
const MINUTE_MS = 60_000;
const invoices: Awaited[] = [{ owner: 'billing', kinds: ['invoices'], version: 7 }];
const never = (): AbortSignal => new AbortController().signal;

interface Call {
  owner: string;
  awaited: AwaitedChange[];
  answer: (changed: number[]) => void;
}

/** Held polls whose calls to services the test answers. */
function held(): { polls: HeldPolls; calls: Call[] } {
  const calls: Call[] = [];
  const polls = new HeldPolls((owner, awaited) => new Promise((answer) => calls.push({ owner, awaited, answer })));
  return { polls, calls };
}

/** Lets everything run that is ready. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a change ends only the polls that await it', async () => {
  const { polls, calls } = held();
  const ended: string[] = [];
  void polls.hold(ACME, invoices, MINUTE_MS, never())?.then(() => ended.push(ACME));
  void polls.hold(OTHER, invoices, MINUTE_MS, never())?.then(() => ended.push(OTHER));
  // The first call names the first poll only; the next one names both.
  calls[0]?.answer([]);
  await settled();
  expect(calls[1]?.awaited.map(({ company_id }) => company_id)).toEqual([ACME, OTHER]);
  calls[1]?.answer([1]);
  await settled();
  expect(ended).toEqual([OTHER]);
  polls.release();
});

test('a poll without changes ends when its time is over', async () => {
  const { polls } = held();
  await expect(polls.hold(ACME, invoices, 1, never())).resolves.toBeUndefined();
});

test('a poll ends when its client leaves, and makes its slot free', async () => {
  const { polls } = held();
  const client = new AbortController();
  const first = polls.hold(ACME, invoices, MINUTE_MS, client.signal);
  for (let i = 1; i < 20; i += 1) void polls.hold(ACME, invoices, MINUTE_MS, never());
  expect(polls.hold(ACME, invoices, MINUTE_MS, never())).toBeUndefined();
  let ended = false;
  void first?.then(() => (ended = true));
  client.abort();
  await settled();
  expect(ended).toBe(true);
  expect(polls.hold(ACME, invoices, MINUTE_MS, never())).toBeDefined();
  polls.release();
});

test('holds at most 20 polls of a company, and still those of another', () => {
  const { polls } = held();
  const results = Array.from({ length: 21 }, () => polls.hold(ACME, invoices, MINUTE_MS, never()) !== undefined);
  expect(results).toEqual([...Array.from({ length: 20 }, () => true), false]);
  expect(polls.hold(OTHER, invoices, MINUTE_MS, never())).toBeDefined();
  polls.release();
});

test('does not hold a poll that has no time left', () => {
  const { polls, calls } = held();
  expect(polls.hold(ACME, invoices, 0, never())).toBeUndefined();
  expect(calls).toEqual([]);
});

test('a stop ends all polls and holds no more', async () => {
  const { polls } = held();
  const ended: string[] = [];
  for (const company of [ACME, OTHER]) void polls.hold(company, invoices, MINUTE_MS, never())?.then(() => ended.push(company));
  polls.release();
  await settled();
  expect(ended).toEqual([ACME, OTHER]);
  expect(polls.hold(ACME, invoices, MINUTE_MS, never())).toBeUndefined();
});

test('asks each service once for all polls, and stops asking when none is left', async () => {
  const { polls, calls } = held();
  const both: Awaited[] = [...invoices, { owner: 'scheduling', kinds: ['jobs', 'tags'], version: 9 }];
  for (let i = 0; i < 20; i += 1) void polls.hold(ACME, both, MINUTE_MS, never());
  expect(calls.map(({ owner }) => owner)).toEqual(['billing', 'scheduling']);
  for (const { answer } of calls.slice()) answer([]);
  await settled();
  expect(calls.map(({ owner, awaited }) => [owner, awaited.length]).slice(2)).toEqual([
    ['billing', 20],
    ['scheduling', 20],
  ]);
  expect(calls[3]?.awaited[0]).toEqual({ company_id: ACME, kinds: ['jobs', 'tags'], version: 9 });
  polls.release();
  for (const { answer } of calls.slice(2)) answer([]);
  await settled();
  expect(calls).toHaveLength(4);
});
