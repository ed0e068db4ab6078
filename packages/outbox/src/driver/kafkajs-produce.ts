// A faster encoding of produce requests.
//
// Fault: kafkajs allocates a buffer for every record and header, and copies each seven times.
// Upstream: tulios/kafkajs#383 (issue, closed), #475 (pull request, closed).
// Ends: with kafkajs itself, whose last stable release is 2.2.4 (docs/adr/0016).
import Encoder from 'kafkajs/src/protocol/encoder.js';
import type { Produce, ProduceArguments } from 'kafkajs/src/protocol/requests/produce/index.js';
import { RecordWriter, isPlain } from './record-batch-writer.ts';

/** First version of the produce request with record batches of version 2. All later ones that kafkajs knows encode them the same way. */
const FIRST_VERSION = 3;
const COMPRESSED = 0x07;
const NO_PRODUCER = -1n;

/** Makes the same requests, but encodes their records into one buffer. Compressed, transactional and unusual records are left to kafkajs. */
export function writeProduced({ version }: { version: number }, make: Produce): Produce {
  if (version < FIRST_VERSION) return make;
  return (produced) => {
    const made = make(produced);
    return isUsual(produced) ? { ...made, request: { ...made.request, encode: async () => encoded(produced) } } : made;
  };
}

function isUsual({ compression = 0, transactionalId, topicData }: ProduceArguments): boolean {
  if ((compression & COMPRESSED) !== 0 || transactionalId != null) return false;
  return topicData.every(({ partitions }) => partitions.every(({ messages }) => messages.every(isPlain)));
}

/** Generous estimate of an event's size without its value, in bytes. */
const HEADERS = 700;

/** Estimated size of the request in bytes, nearly always enough: growing a buffer means allocating and copying it. */
function roomFor(topicData: ProduceArguments['topicData']): number {
  let room = HEADERS;
  for (const { partitions } of topicData) {
    for (const { messages } of partitions) for (const { value } of messages) room += HEADERS + (value?.length ?? 0);
  }
  return room;
}

function encoded({ acks, timeout, producerId, producerEpoch = 0, topicData }: ProduceArguments): Encoder {
  const writer = new RecordWriter(roomFor(topicData));
  writer.text16(null);
  writer.int16(acks);
  writer.int32(timeout);
  writer.int32(topicData.length);
  const now = Date.now();
  const id = producerId === undefined ? NO_PRODUCER : BigInt(String(producerId));
  for (const { topic, partitions } of topicData) {
    writer.text16(topic);
    writer.int32(partitions.length);
    for (const { partition, messages, firstSequence = 0 } of partitions) {
      writer.int32(Number(partition));
      writer.batch(messages, { producerId: id, producerEpoch, firstSequence }, now);
    }
  }
  const encoder = new Encoder(0);
  encoder.buf = writer.bytes;
  encoder.offset = writer.length;
  return encoder;
}
