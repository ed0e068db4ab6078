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
