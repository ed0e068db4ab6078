// How kafkajs sends records: see kafkajs-repairs.ts.
import Encoder from 'kafkajs/src/protocol/encoder.js';
import type { Produce, ProduceArguments } from 'kafkajs/src/protocol/requests/produce/index.js';
import { RecordWriter, isPlain } from './record-batch-writer.ts';

/** The first version whose records are of version 2; none that kafkajs knows writes them differently. */
const FIRST_VERSION = 3;
const COMPRESSED = 0x07;
const NO_PRODUCER = -1n;

/** The same requests, whose records are written in one go where nothing unusual is asked for. */
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

/** Of an event beside its value, by far. */
const HEADERS = 700;

/** More than all records take, nearly always: a buffer that grew would be made and copied several times. */
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
