import { randomBytes } from 'node:crypto';
import { Partitioners, type PartitionMetadata } from 'kafkajs';
import { partitionByKey } from '../src/partitioner.ts';

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

test('refuses an event without a key', () => {
  expect(() => partitionByKey()({ topic, partitionMetadata: partitions(3), message: { value: null } })).toThrow('without a key');
});
