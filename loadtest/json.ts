// npm run bench:json: a page of invoices from wire bytes to JSON, by the gateway's writer and by objects (docs/adr/0002).
import { isDeepStrictEqual } from 'node:util';
import { JsonBuffer, JsonWriter, resource } from '@truckroll/contract';
import { writeByObjects } from './json/by-objects.ts';
import { pageBytes } from './json/page.ts';
import { rounded } from './measure/report.ts';
import { median } from './measure/rounds.ts';

const ROUNDS = 9;
const ROUND_MICROS = 300_000;
const shape = resource('invoices').record;
const DATA_TAG = 0x0a;

const writer = new JsonWriter();
const out = new JsonBuffer();

/** Converts as the gateway does: each record directly from the message, into a reused buffer. */
function writeFromWire(bytes: Buffer): Buffer {
  out.length = 0;
  out.ascii('{"data":[');
  let at = 0;
  while (bytes[at] === DATA_TAG) {
    let size = 0;
    let shift = 0;
    let byte: number;
    do {
      byte = bytes[++at] as number;
      size |= (byte & 0x7f) << shift;
      shift += 7;
    } while (byte >= 0x80);
    const end = ++at + size;
    if (out.length > 9) out.ascii(',');
    writer.write(shape, bytes, at, end, out);
    at = end;
  }
  out.ascii(']}');
  return out.view();
}

const WAYS = { objects: writeByObjects, wire: writeFromWire };

/** Returns CPU time per call in µs, which other processes hardly affect. */
function timed(work: () => unknown): number {
  const before = process.cpuUsage();
  let calls = 0;
  let used: number;
  do {
    for (let n = 0; n < 10; n++) work();
    calls += 10;
    const { user, system } = process.cpuUsage(before);
    used = user + system;
  } while (used < ROUND_MICROS);
  return used / calls;
}

const figures: Record<string, number> = {};
for (const size of [50, 1]) {
  const bytes = pageBytes(size);
  const [json, expected] = [writeFromWire(bytes).toString(), writeByObjects(bytes).toString()];
  if (!isDeepStrictEqual(JSON.parse(json), JSON.parse(expected))) throw new Error('the two ways write different JSON');
  const times: Record<keyof typeof WAYS, number[]> = { objects: [], wire: [] };
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, way] of Object.entries(WAYS) as [keyof typeof WAYS, (bytes: Buffer) => Buffer][]) {
      const micros = timed(() => way(bytes));
      if (round >= 0) times[name].push(micros);
    }
  }
  const [objects, wire] = [median(times.objects), median(times.wire)];
  process.stdout.write(
    `${size} invoice${size === 1 ? '' : 's'}, ${bytes.length} bytes to ${json.length}: objects ${objects.toFixed(1)} µs, wire bytes ${wire.toFixed(1)} µs\n`,
  );
  figures[`json_speedup_${size}`] = rounded(objects / wire, 1);
}
process.stdout.write(`figures: ${JSON.stringify(figures)}\n`);
