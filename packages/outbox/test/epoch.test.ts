import { append } from '../src/append.ts';
import { beginEpoch, currentEpoch, epochOf } from '../src/epoch.ts';
import { event, newTopic, openSetting } from './setting.ts';

let setting: Awaited<ReturnType<typeof openSetting>>;
beforeAll(async () => void (setting = await openSetting()));
afterAll(() => setting.close());

test.each([
  [0, 0],
  [999_999_999_999, 0],
  [1_000_000_000_000, 1],
  [1_999_999_999_999, 1],
  [999_999_999_999_999, 999],
])('version %i belongs to epoch %i', (version, epoch) => {
  expect(epochOf(version)).toBe(epoch);
});

test('gives later events greater versions than all of earlier epochs, up to 999 epochs', async () => {
  const { database } = setting;
  const topic = newTopic();
  expect(await currentEpoch(database)).toBe(0);
  await append(database, [event(topic, 'k', 'before')]);
  for (const epoch of [1, 999]) {
    await beginEpoch(database, epoch);
    expect(await currentEpoch(database)).toBe(epoch);
    await append(database, [event(topic, 'k', `in ${epoch}`)]);
  }
  const { rows } = await database.query<{ id: number }>({ text: 'select id from outbox where topic = $1 order by id', values: [topic.name] });
  expect(rows.map(({ id }) => id).slice(1)).toEqual([1_000_000_000_001, 999_000_000_000_001]);
  await expect(beginEpoch(database, 1000)).rejects.toThrow('there can be 999 epochs, not 1000');
});
