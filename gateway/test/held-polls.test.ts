import { getEventListeners } from 'node:events';
import { currentRequest, onBehalfOf } from '@truckroll/telemetry';
import { until } from '@truckroll/testing/until';
import type { AwaitedChange, FindChangedResponse, FoundChange } from '@truckroll/contract/gen/records/v1/changes';
import { HeldPolls, type Awaited } from '../src/changes/held-polls.ts';
import type { PollSlots } from '../src/changes/poll-slots.ts';

const ACME = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';
const MINUTE_MS = 60_000;
const invoices: Awaited[] = [{ owner: 'billing', kinds: ['invoices'], version: 7 }];
const never = (): AbortSignal => new AbortController().signal;

interface Call {
  owner: string;
  awaited: AwaitedChange[];
  requestId: string | undefined;
  answer: (changed: FoundChange[], look?: Partial<FindChangedResponse>) => void;
  fail: () => void;
}

/** Held polls whose calls to services the test answers; `free` slots for all companies together. */
function held(free = 100): { polls: HeldPolls; calls: Call[]; free: () => number } {
  const calls: Call[] = [];
  const slots: PollSlots = {
    async take() {
      if (free === 0) return undefined;
      free -= 1;
      return () => void (free += 1);
    },
  };
  const find = (owner: string, awaited: AwaitedChange[]): Promise<FindChangedResponse> => {
    const { promise, resolve, reject } = Promise.withResolvers<FindChangedResponse>();
    calls.push({
      owner,
      awaited,
      requestId: currentRequest()?.requestId,
      answer: (changed, look) => resolve({ changed, belows: [], as_of: 5, ...look }),
      fail: () => reject(new Error('away')),
    });
    return promise;
  };
  const polls = new HeldPolls(find, slots);
  return { polls, calls, free: () => free };
}

/** Lets everything run that is ready: an answer, and then the next call. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('a poll that begins during a call has its own call at once, and shares the next one', async () => {
  const { polls, calls } = held();
  const asked = () => calls.splice(0).map((call) => (call.answer([]), call.awaited.map(({ company_id }) => company_id)));
  for (const company of [ACME, OTHER]) await polls.hold(company, invoices, MINUTE_MS, never());
  expect(asked()).toEqual([[ACME], [OTHER]]);
  await settled();
  expect(asked()).toEqual([[ACME, OTHER]]);
  await settled();
  expect(asked()).toEqual([[ACME, OTHER]]);
  polls.release();
});

test('calls are made on behalf of no poll, since they go on when it has ended', async () => {
  const { polls, calls } = held();
  await onBehalfOf({ requestId: ACME, traceparent: undefined }, () => polls.hold(ACME, invoices, MINUTE_MS, never()));
  expect(calls.map(({ requestId }) => requestId)).toEqual([undefined]);
  polls.release();
});

test('a change ends only the polls that await it', async () => {
  const { polls, calls } = held();
  const ended: string[] = [];
  for (const company of [ACME, OTHER]) void (await polls.hold(company, invoices, MINUTE_MS, never()))?.over.then(() => ended.push(company));
  for (const { answer } of calls.splice(0)) answer([]);
  await settled();
  calls[0]?.answer([{ place: 1, version: 7 }]);
  await settled();
  expect(ended).toEqual([OTHER]);
  polls.release();
});

test('polls of one company ask together, and a change ends those that have not read it', async () => {
  const { polls, calls } = held();
  const ended: number[] = [];
  for (const version of [9, 7, 8])
    void (await polls.hold(ACME, [{ owner: 'billing', kinds: ['invoices'], version }], MINUTE_MS, never()))?.over.then(() => ended.push(version));
  calls[0]?.answer([]);
  await settled();
  expect(calls[1]?.awaited).toEqual([{ company_id: ACME, kinds: ['invoices'], version: 7 }]);
  calls[1]?.answer([{ place: 0, version: 8 }]);
  await settled();
  expect(ended.sort()).toEqual([7, 8]);
  polls.release();
});

test('polls of one company for different kinds ask for their own, and a change ends those that await its kind', async () => {
  const { polls, calls } = held();
  const ended: string[] = [];
  for (const kind of ['invoices', 'payments'])
    void (await polls.hold(ACME, [{ owner: 'billing', kinds: [kind], version: 7 }], MINUTE_MS, never()))?.over.then(() => ended.push(kind));
  for (const { answer } of calls.splice(0)) answer([]);
  await settled();
  expect(calls[0]?.awaited.map(({ kinds }) => kinds)).toEqual([['invoices'], ['payments']]);
  calls[0]?.answer([{ place: 1, version: 9 }]);
  await settled();
  expect(ended).toEqual(['payments']);
  polls.release();
});

test('a poll without changes ends when its time is over', async () => {
  const { polls } = held();
  await expect((await polls.hold(ACME, invoices, 1, never()))?.over).resolves.toBeUndefined();
});

describe('a poll whose time is over', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => jest.useRealTimers());
  const both: Awaited[] = [...invoices, { owner: 'scheduling', kinds: ['jobs'], version: 9 }];

  /** Holds a poll of two services, and answers their first calls. */
  async function ends(answer: (billing: Call, scheduling: Call) => void): Promise<unknown> {
    const { polls, calls } = held();
    const poll = await polls.hold(ACME, both, MINUTE_MS, never());
    answer(calls[0] as Call, calls[1] as Call);
    await settled();
    jest.advanceTimersByTime(MINUTE_MS);
    return await poll?.over;
  }

  test('says that nothing changed if all services said so', async () => {
    const over = await ends((billing, scheduling) => {
      billing.answer([], { below: 20, as_of: 5 });
      scheduling.answer([], { below: 30, as_of: 4 });
    });
    expect(over).toEqual(
      new Map([
        ['billing', { from: 7, below: 20, asOf: 5 }],
        ['scheduling', { from: 9, below: 30, asOf: 4 }],
      ]),
    );
  });

  test('says so too if the found changes are those that it has read', async () => {
    const { polls, calls } = held();
    const polled = await Promise.all([8, 9].map((version) => polls.hold(ACME, [{ owner: 'billing', kinds: ['invoices'], version }], MINUTE_MS, never())));
    calls[0]?.answer([]);
    await settled();
    calls[1]?.answer([{ place: 0, version: 8 }], { below: 20 });
    await settled();
    jest.advanceTimersByTime(MINUTE_MS);
    expect([await polled[0]?.over, await polled[1]?.over]).toEqual([undefined, new Map([['billing', { from: 9, below: 20, asOf: 5 }]])]);
  });

  test('says for each company what its service said, if they differ', async () => {
    const over = await ends((billing, scheduling) => {
      billing.answer([], { belows: [20] });
      scheduling.answer([], { below: 30 });
    });
    expect(over).toEqual(
      new Map([
        ['billing', { from: 7, below: 20, asOf: 5 }],
        ['scheduling', { from: 9, below: 30, asOf: 5 }],
      ]),
    );
  });

  test('must be read if a service is of an older release', async () => {
    const over = await ends((billing, scheduling) => {
      billing.answer([], { below: 20 });
      scheduling.answer([]);
    });
    expect(over).toBeUndefined();
  });

  test('must be read if a service has not answered', async () => {
    expect(await ends((billing) => billing.answer([], { below: 20 }))).toBeUndefined();
  });

  test('must be read if no call was answered since it came, although other polls of the company wait', async () => {
    const { polls, calls } = held();
    await polls.hold(ACME, invoices, 2 * MINUTE_MS, never());
    calls[0]?.answer([], { below: 20 });
    await settled();
    const poll = await polls.hold(ACME, invoices, MINUTE_MS, never());
    jest.advanceTimersByTime(MINUTE_MS);
    expect(await poll?.over).toBeUndefined();
    polls.release();
  });

  test('must be read if its version is lower than that of the answered call', async () => {
    const { polls, calls } = held();
    await polls.hold(ACME, invoices, 2 * MINUTE_MS, never());
    const poll = await polls.hold(ACME, [{ ...(invoices[0] as Awaited), version: 6 }], MINUTE_MS, never());
    calls[0]?.answer([], { below: 20 });
    await settled();
    jest.advanceTimersByTime(MINUTE_MS);
    expect(await poll?.over).toBeUndefined();
    polls.release();
  });

  test.each(['a change', 'its client', 'its time', 'the stop'])('leaves neither a timer nor a listener when %s ends it', async (how) => {
    const { polls, calls, free } = held(1);
    const client = new AbortController();
    const poll = await polls.hold(ACME, invoices, MINUTE_MS, client.signal);
    expect([jest.getTimerCount(), getEventListeners(client.signal, 'abort').length]).toEqual([1, 1]);
    if (how === 'a change') calls[0]!.answer([{ place: 0, version: 7 }]);
    if (how === 'its client') client.abort();
    if (how === 'its time') jest.advanceTimersByTime(MINUTE_MS);
    if (how === 'the stop') polls.release();
    await poll?.over;
    expect([jest.getTimerCount(), getEventListeners(client.signal, 'abort').length, free()]).toEqual([0, 0, 1]);
  });

  test('must be read if the latest call of a service failed', async () => {
    const { polls, calls } = held();
    const poll = await polls.hold(ACME, invoices, MINUTE_MS, never());
    calls[0]?.answer([], { below: 20 });
    await settled();
    calls[1]?.fail();
    await settled();
    jest.advanceTimersByTime(MINUTE_MS);
    expect(await poll?.over).toBeUndefined();
  });
});

test('a poll ends when its client leaves, and gives its slot back once', async () => {
  const { polls, free } = held(1);
  const client = new AbortController();
  const poll = await polls.hold(ACME, invoices, MINUTE_MS, client.signal);
  expect(await polls.hold(ACME, invoices, MINUTE_MS, never())).toBeUndefined();
  client.abort();
  await poll?.over;
  polls.release();
  expect(free()).toBe(1);
});

test('a poll whose client leaves while its slot is requested ends at once', async () => {
  const { polls, calls, free } = held(1);
  const client = new AbortController();
  const holding = polls.hold(ACME, invoices, MINUTE_MS, client.signal);
  client.abort();
  await (await holding)?.over;
  expect([free(), calls]).toEqual([1, []]);
});

test('does not hold a poll that has no time left', async () => {
  const { polls, calls } = held();
  expect(await polls.hold(ACME, invoices, 0, never())).toBeUndefined();
  expect(calls).toEqual([]);
});

test('a stop ends all polls and holds no more', async () => {
  const { polls } = held();
  const ended: string[] = [];
  for (const company of [ACME, OTHER]) void (await polls.hold(company, invoices, MINUTE_MS, never()))?.over.then(() => ended.push(company));
  const late = polls.hold(ACME, invoices, MINUTE_MS, never());
  polls.release();
  await (await late)?.over;
  expect(ended).toEqual([ACME, OTHER]);
  expect(await polls.hold(ACME, invoices, MINUTE_MS, never())).toBeUndefined();
});

test('asks each service once for all polls, and stops asking when none is left', async () => {
  const { polls, calls } = held();
  const both: Awaited[] = [...invoices, { owner: 'scheduling', kinds: ['jobs', 'tags'], version: 9 }];
  for (let i = 0; i < 20; i += 1) await polls.hold(ACME, both, MINUTE_MS, never());
  expect(calls.map(({ owner }) => owner)).toEqual(['billing', 'scheduling']);
  for (const { answer } of calls.slice()) answer([]);
  await settled();
  expect(calls.map(({ owner, awaited }) => [owner, awaited.length]).slice(2)).toEqual([
    ['billing', 1],
    ['scheduling', 1],
  ]);
  expect(calls[3]?.awaited[0]).toEqual({ company_id: ACME, kinds: ['jobs', 'tags'], version: 9 });
  polls.release();
  for (const { answer } of calls.slice(2)) answer([]);
  await settled();
  expect(calls).toHaveLength(4);
});

test('asks again a while after a call failed, not at once', async () => {
  const { polls, calls } = held();
  await polls.hold(ACME, invoices, MINUTE_MS, never());
  calls[0]!.fail();
  for (let turn = 0; turn < 20; turn += 1) await settled();
  expect(calls).toHaveLength(1);
  await until('the next call', () => calls.length === 2);
  polls.release();
});

test('asks again for a poll that comes after all others have ended', async () => {
  const { polls, calls } = held();
  for (const count of [1, 2, 3]) {
    const poll = await polls.hold(ACME, invoices, MINUTE_MS, never());
    expect(calls).toHaveLength(count);
    calls.at(-1)!.answer([{ place: 0, version: 7 }]);
    await poll?.over;
    await settled();
  }
  expect(calls).toHaveLength(3);
});

test('polls of a company that has moved read again, and those of others wait on', async () => {
  const { polls } = held();
  const ended: string[] = [];
  for (const company of [ACME, OTHER]) void (await polls.hold(company, invoices, MINUTE_MS, never()))?.over.then(() => ended.push(company));
  polls.wake(ACME);
  await settled();
  expect(ended).toEqual([ACME]);
  polls.release();
});
