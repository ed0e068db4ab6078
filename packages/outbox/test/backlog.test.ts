import type { KafkaMessage } from 'kafkajs';
import { Backlog, type ReadMessage } from '../src/backlog.ts';

const read = (...offsets: number[]): ReadMessage[] => offsets.map((offset) => ({ message: { offset: String(offset) } as KafkaMessage, event: undefined }));

function held() {
  const begun: { partition: number; offsets: number[]; end: (error?: Error) => void }[] = [];
  const backlog = new Backlog((_, partition, messages, signal) => {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    begun.push({ partition, offsets: messages.map(({ message }) => Number(message.offset)), end: (error) => (error ? reject(error) : resolve()) });
    return promise;
  });
  return { backlog, begun, offsets: () => begun.map(({ offsets }) => offsets) };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('applies messages of a busy partition together after its current chunk, and those of other partitions at once', async () => {
  const { backlog, begun, offsets } = held();
  const first = backlog.add('t', 0, read(0, 1));
  const later = [backlog.add('t', 0, read(2)), backlog.add('t', 0, read(3, 4))];
  void backlog.add('t', 1, read(0));
  await turn();
  expect(offsets()).toEqual([[0, 1], [0]]);
  begun[0]!.end();
  await first;
  await turn();
  expect(offsets().slice(2)).toEqual([[2, 3, 4]]);
  begun[2]!.end();
  await Promise.all(later);
});

test('drops waiting messages, waits for the current chunk, and applies messages added afterwards', async () => {
  const { backlog, begun, offsets } = held();
  const first = backlog.add('t', 0, read(0));
  const second = backlog.add('t', 0, read(1));
  let dropped = false;
  const dropping = backlog.drop(new Error('moved on')).then(() => (dropped = true));
  await expect(second).rejects.toThrow('moved on');
  await turn();
  expect(dropped).toBe(false);
  begun[0]!.end();
  await Promise.all([first, dropping]);
  const third = backlog.add('t', 0, read(1));
  await turn();
  begun[1]!.end();
  await third;
  expect(offsets()).toEqual([[0], [1]]);
});

async function expectRoomOnlyAfter(end: () => void, backlog: Backlog): Promise<void> {
  let room = false;
  const asked = backlog.roomAfter(0).then(() => (room = true));
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(room).toBe(false);
  end();
  await asked;
}

test('has room for more until more than 4000 messages wait, and again once some of them have been applied', async () => {
  const { backlog, begun } = held();
  void backlog.add('t', 0, read(...Array.from({ length: 4000 }, (_, i) => i)));
  await backlog.roomAfter(0);
  void backlog.add('t', 1, read(0));
  await expectRoomOnlyAfter(() => begun[1]!.end(), backlog);
});

test('has room again, and applies messages under a live signal, once the waiting ones have been dropped', async () => {
  const { backlog, begun, offsets } = held();
  const waiting = backlog.add('t', 0, read(...Array.from({ length: 4600 }, (_, i) => i)));
  const dropping = backlog.drop(new Error('moved on'));
  await expect(waiting).rejects.toThrow('moved on');
  begun[0]!.end();
  await dropping;
  await backlog.roomAfter(0);
  const again = backlog.add('t', 1, read(7));
  await turn();
  begun[1]!.end();
  await again;
  expect(offsets()[1]).toEqual([7]);
});

test('applies 500 messages at a time at most, of one batch or of several', async () => {
  const { backlog, begun, offsets } = held();
  const many = (from: number, count: number) => read(...Array.from({ length: count }, (_, i) => from + i));
  void backlog.add('t', 0, many(0, 1100));
  await turn();
  for (const count of [200, 200, 300]) void backlog.add('t', 0, many(0, count));
  for (let place = 0; place < 4; place += 1) {
    begun[place]!.end();
    await turn();
  }
  expect(offsets().map(({ length }) => length)).toEqual([500, 500, 500, 300]);
});

test('rejects a batch that could not be applied, and applies the next one', async () => {
  const { backlog, begun, offsets } = held();
  const failing = backlog.add('t', 0, read(0));
  const next = backlog.add('t', 0, read(1));
  await turn();
  begun[0]!.end(new Error('the partition has moved'));
  await expect(failing).rejects.toThrow('the partition has moved');
  await turn();
  begun[1]!.end();
  await next;
  expect(offsets()).toEqual([[0], [1]]);
  await backlog.roomAfter(0);
});

test('counts bytes too: there is no room above 8 MB, and again once they have been applied', async () => {
  const { backlog, begun } = held();
  const large = (partition: number, bytes: number) => {
    void backlog.add('t', partition, [{ message: { offset: '0', value: Buffer.alloc(bytes) } as unknown as KafkaMessage, event: undefined }]);
  };
  large(0, 8 * 1024 * 1024);
  await backlog.roomAfter(0);
  large(1, 1);
  await expectRoomOnlyAfter(() => begun[1]!.end(), backlog);
});
