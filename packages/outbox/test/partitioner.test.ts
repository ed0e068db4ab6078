import { randomBytes } from 'node:crypto';
import { Partitioners, type PartitionMetadata } from 'kafkajs';
import { partitionByKey } from '../src/driver/partitioner.ts';

const topic = 'truckroll.billing.invoices';
const partitions = (count: number): PartitionMetadata[] =>
  Array.from({ length: count }, (_, partitionId) => ({ partitionId, partitionErrorCode: 0, leader: 1, replicas: [1], isr: [1] }));

test('assigns keys to the same partitions as kafkajs', () => {
  const [ours, theirs] = [partitionByKey(), Partitioners.DefaultPartitioner()];
  for (let length = 0; length < 300; length++) {
    for (const key of [randomBytes(length), randomBytes(length).toString('base64'), `ü${randomBytes(length).toString('hex')}`]) {
      for (const count of [1, 12, 7]) {
        const asked = { topic, partitionMetadata: partitions(count), message: { key, value: null } };
        expect(ours(asked)).toBe(theirs(asked));
      }
    }
  }
});

/** More partitions than a hash without its sign, so that the partition is the hash. */
const ALL = { length: 2 ** 31 } as PartitionMetadata[];

// Values with which Kafka tests its Java client.
test.each([
  ['21', -973_932_308],
  ['foobar', -790_332_482],
  ['a-little-bit-long-string', -985_981_536],
  ['a-little-bit-longer-string', -1_486_304_829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58_897_971],
  ['abc', 479_470_107],
])('hashes %s as Kafka does', (key, hash) => {
  expect(partitionByKey()({ topic, partitionMetadata: ALL, message: { key, value: null } })).toBe(hash & 0x7fff_ffff);
});

test('refuses an event without a key', () => {
  expect(() => partitionByKey()({ topic, partitionMetadata: partitions(3), message: { value: null } })).toThrow('without a key');
});
