// Writes a response message as the public envelope (api.md, Conventions), straight from its wire bytes: `data` and any other objects of the
// message become top-level keys, `next` becomes the pagination, `time_zone` goes into meta, and meta is added.
import { JsonWriter, WireCursor, camelCase, isChangeRecord, type Field, type JsonBuffer, type Operation } from '@truckroll/contract';

export interface EnvelopeParts {
  /** `{"request_id":…}` as JSON text in ASCII, with the answer's time zone if it has one. */
  meta(timeZone?: string): string;
  /** Seals the position at which the next page starts, as a cursor for this operation or for the named one. */
  seal(position: Uint8Array, operation?: string): string;
}

/** Returns how many records fit if the answer is a page that they would make too large. Then `out` holds no complete answer. */
export type EnvelopeWriter = (bytes: Buffer, parts: EnvelopeParts, out: JsonBuffer) => number | undefined;

/** Size of a page's JSON in bytes above which it ends early, with at least one record (docs/decisions.md §17): under /v1, and under /api/v1. */
const MOST_BYTES = { snake: 8_000_000, camel: 1_000_000 } as const;

interface Key {
  field: Field;
  /** `"data":`, after a comma if it is not the first key. */
  text: string;
}

/** Throws, when the gateway starts, if the response type does not fit an envelope. The writer throws for bytes that are no whole response: a 500. */
export function compileEnvelope(operation: Operation): EnvelopeWriter {
  const { response, camelCase: camel } = operation;
  let sealing: EnvelopeParts['seal'];
  const style = camel ? 'camel' : 'snake';
  const data = response.byName.get('data');
  if (data?.shape === undefined) throw new Error(`${response.typeName} has no data`);
  const writer = new JsonWriter(isChangeRecord(data.shape) ? 'snake' : style, (position, name) => sealing(position, name));
  const next = response.byName.get('next');
  const zone = response.byName.get('time_zone');
  const others = response.fields.filter((field) => field !== data && field !== next && field !== zone);
  for (const field of others) {
    if (field.shape === undefined || field.repeated) throw new Error(`${response.typeName}.${field.name} is not an object`);
  }
  const keys: Key[] = [data, ...others].map((field, index) => ({
    field,
    text: `${index === 0 ? '' : ','}"${camel ? camelCase(field.name) : field.name}":`,
  }));
  const pages = next !== undefined;
  const most = pages ? MOST_BYTES[style] : Infinity;
  const pagination = `,"pagination":{"${camel ? 'nextCursor' : 'next_cursor'}":`;
  /** Start and end of every occurrence of a field, by field number. Reused between answers: the writer is synchronous. */
  const spans: number[][] = [];
  for (const field of response.fields) spans[field.number] = [];

  return (bytes, { meta, seal }, out) => {
    sealing = seal;
    for (const span of spans) if (span !== undefined) span.length = 0;
    scan(bytes, spans);
    out.ascii('{');
    for (const { field, text } of keys) {
      const span = spans[field.number] as number[];
      out.ascii(text);
      if (field.repeated) out.ascii('[');
      for (let i = 0; i < span.length; i += 2) {
        if (i > 0) out.ascii(',');
        writer.write(field.shape as NonNullable<Field['shape']>, bytes, span[i] as number, span[i + 1] as number, out);
        if (out.length > most && i > 0) return i / 2;
      }
      if (field.repeated) out.ascii(']');
      else if (span.length === 0 && field.nullable) out.ascii('null');
      else if (span.length !== 2) throw new Error(`${response.typeName}.${field.name} came ${span.length / 2} times`);
    }
    if (pages) {
      const [start = 0, end = 0] = spans[next.number] as number[];
      out.ascii(`${pagination}${end === start ? 'null' : `"${seal(bytes.subarray(start, end))}"`}}`);
    }
    const [from, to] = (zone && spans[zone.number]) ?? [];
    out.ascii(camel ? '}' : `,"meta":${from === undefined ? meta() : meta(bytes.toString('latin1', from, to))}}`);
    return undefined;
  };
}

/** Records where the fields of a message are. Envelopes contain only messages, bytes and strings. */
function scan(bytes: Buffer, spans: readonly (number[] | undefined)[]): void {
  const cursor = new WireCursor(bytes);
  for (; cursor.field !== 0; cursor.advance()) {
    if (!cursor.delimited) throw new Error('an envelope holds something other than messages');
    spans[cursor.field]?.push(cursor.body, cursor.end);
  }
  if (cursor.end !== bytes.length) throw new Error('the answer of a service ends too early');
}
