import fc from 'fast-check';
import type { Message } from 'kafkajs';
import produces, { type ProduceArguments } from 'kafkajs/src/protocol/requests/produce/index.js';
import { writeProduced } from '../src/driver/kafkajs-produce.ts';

// The unpatched encoders of kafkajs: this file does not apply the repairs.
const theirs = produces.protocol({ version: 7 });
const ours = writeProduced({ version: 7 }, theirs);

const now = Date.now;
beforeAll(() => {
  Date.now = () => 1_790_000_000_000;
});
afterAll(() => {
  Date.now = now;
});

const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 80 }), fc.string({ unit: 'binary-ascii', maxLength: 200 }));
const bytes = fc.oneof(fc.uint8Array({ maxLength: 100 }), fc.uint8Array({ minLength: 8100, maxLength: 8300 })).map((array) => Buffer.from(array));
const plain = fc.record({
  key: fc.option(fc.oneof(text, bytes)),
  value: fc.option(fc.oneof(text, bytes)),
  headers: fc.dictionary(text, fc.oneof(text, bytes)),
}) as fc.Arbitrary<Message>;

const asked = (messages: readonly Message[], more: Partial<ProduceArguments> = {}): ProduceArguments => ({
  acks: -1,
  timeout: 10_000,
  producerId: '71000',
  producerEpoch: 3,
  topicData: [
    { topic: 'one', partitions: [{ partition: '2', firstSequence: 17, messages }] },
    { topic: 'zwölf', partitions: [{ partition: 0, messages: messages.slice(0, 1) }] },
  ],
  ...more,
});

async function requestOf(make: typeof theirs, produced: ProduceArguments): Promise<Buffer> {
  const { buffer } = await make(produced).request.encode();
  return buffer;
}

test('encodes records to the same bytes as kafkajs', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(plain, { minLength: 1, maxLength: 5 }), async (messages) => {
      const produced = asked(messages);
      expect((await requestOf(ours, produced)).equals(await requestOf(theirs, produced))).toBe(true);
    }),
  );
  const long: Message[] = [{ key: 'k', value: Buffer.alloc(3_000_000, 7), headers: {} }];
  expect((await requestOf(ours, asked(long))).equals(await requestOf(theirs, asked(long)))).toBe(true);
});

test('leaves records with timestamps, headers with several values, and transactions to kafkajs', async () => {
  const unusual: Message[] = [
    { key: 'k', value: 'v', timestamp: '1700000000000' },
    { key: 'k', value: 'v', headers: { a: ['one', 'two'] } },
  ];
  for (const message of unusual) {
    const produced = asked([message, { key: 'k', value: null }]);
    expect(await requestOf(ours, produced)).toEqual(await requestOf(theirs, produced));
  }
  const inTransaction = asked([{ key: 'k', value: 'v' }], { transactionalId: 'tx' });
  expect(await requestOf(ours, inTransaction)).toEqual(await requestOf(theirs, inTransaction));
});
