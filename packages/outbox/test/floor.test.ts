// Which rows of the outbox a read may skip: a wrong floor would leave an event unpublished until the relay restarts.
import { Floor } from '../src/floor.ts';
import { openSetting } from './setting.ts';

let setting: Awaited<ReturnType<typeof openSetting>>;
beforeAll(async () => {
  setting = await openSetting();
});
afterAll(() => setting.close());

async function candidateAfter(published: number): Promise<{ floor: Floor; candidate: number | undefined }> {
  const floor = new Floor();
  floor.published(published);
  const session = await setting.database.session();
  try {
    return { floor, candidate: await floor.candidate(session) };
  } finally {
    await session.close();
  }
}

test.each([
  ['rises above what is published when the read finds nothing', undefined, 11],
  ['rises above what is published when the read finds later rows only', 12, 11],
  ['stays at an earlier row that the read finds, which may not be accepted by Kafka', 4, 4],
])('the floor %s', async (_, lowest, id) => {
  const { floor, candidate } = await candidateAfter(10);
  floor.settle(candidate, lowest);
  expect([candidate, floor.id]).toEqual([11, id]);
});

test('the floor stays while a transaction is open that may have taken a lower id', async () => {
  await setting.database.transaction(async (tx) => {
    await tx.query({ text: 'lock table outbox in row exclusive mode' });
    const { floor, candidate } = await candidateAfter(10);
    floor.settle(candidate, undefined);
    expect([candidate, floor.id]).toEqual([undefined, 0]);
  });
});

describe('the floor of an outbox with writers at all times', () => {
  const { spyOn } = jest;
  let now = 0;
  beforeEach(() => void spyOn(performance, 'now').mockImplementation(() => now));
  afterEach(() => void spyOn(performance, 'now').mockRestore());

  async function writer() {
    const session = await setting.database.session();
    await session.query({ text: 'begin' });
    await session.query({ text: 'lock table outbox in row exclusive mode' });
    return session;
  }

  test('rises once those have ended that were there when an id was published, at most once a second', async () => {
    const session = await setting.database.session();
    const floor = new Floor();
    expect(await floor.candidate(session)).toBeUndefined();
    floor.published(10);
    const first = await writer();
    expect(await floor.candidate(session)).toBeUndefined();
    const second = await writer();
    await first.close();
    floor.published(20);
    now += 999;
    expect(await floor.candidate(session)).toBeUndefined();
    now += 1;
    // What the second writer commits may be below 21.
    expect(await floor.candidate(session)).toBe(11);
    floor.settle(11, undefined);
    now += 1000;
    expect(await floor.candidate(session)).toBeUndefined();
    await second.close();
    now += 1000;
    expect(await floor.candidate(session)).toBe(21);
    floor.settle(21, 30);
    expect(floor.id).toBe(21);
    // Nothing was published since.
    now += 1000;
    expect(await floor.candidate(session)).toBeUndefined();
    await session.close();
  });

  test('never falls, and ignores ids published again', async () => {
    const session = await setting.database.session();
    const floor = new Floor();
    floor.published(10);
    floor.published(4);
    floor.settle(await floor.candidate(session), undefined);
    floor.settle(5, 3);
    now += 1000;
    expect([floor.id, await floor.candidate(session)]).toEqual([11, undefined]);
    floor.settle(undefined, 30);
    expect(floor.id).toBe(11);
    await session.close();
  });

  test('is not held by writers of another outbox, or by those who only read', async () => {
    await setting.database.query({ text: 'create table unrelated (id int)' });
    const [session, other, reader] = [await setting.database.session(), await setting.database.session(), await setting.database.session()];
    for (const each of [other, reader]) await each.query({ text: 'begin' });
    await other.query({ text: 'insert into unrelated values (1)' });
    await reader.query({ text: 'select from outbox' });
    const floor = new Floor();
    floor.published(10);
    expect(await floor.candidate(session)).toBe(11);
    await Promise.all([session, other, reader].map((each) => each.close()));
  });
});
