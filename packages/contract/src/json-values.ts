// Writes single values as JSON. Each function writes at `to`, where its caller has reserved room, and returns the end position.
import type { Text } from './json-buffer.ts';
import { dateText } from './json-plan.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const DAY = 86_400_000_000;
/** `00` to `99` as little-endian numbers whose first byte is the tens digit. */
const PAIRS = Uint16Array.from({ length: 100 }, (_, value) => 0x3030 + ((value / 10) | 0) + ((value % 10) << 8));
const END_OF_INSTANT = 0x225a;
/** What strings contain instead of a character that JSON must escape: a control character, a quote or a backslash. */
const ESCAPED = Array.from({ length: BACKSLASH + 1 }, (_, byte) => JSON.stringify(String.fromCharCode(byte)).slice(1, -1));

export function text(data: DataView, to: number, { words, length }: Text): number {
  for (let i = 0, at = to; i < words.length; i++, at += 8) data.setFloat64(at, words[i] as number, true);
  return to + length;
}

/** Writes a string that contains nothing to escape. */
export function plain(from: DataView, start: number, end: number, data: DataView, to: number): number {
  const size = end - start;
  data.setUint8(to, QUOTE);
  copy(from, start, size, data, to + 1);
  data.setUint8(to + 1 + size, QUOTE);
  return to + size + 2;
}

/** Copies text that is JSON already. */
export function raw(from: DataView, start: number, end: number, data: DataView, to: number): number {
  copy(from, start, end - start, data, to);
  return to + end - start;
}

export function string(from: DataView, start: number, end: number, data: DataView, to: number): number {
  let out = to + 1;
  data.setUint8(to, QUOTE);
  for (let at = start; at < end; at++) {
    const byte = from.getUint8(at);
    if (byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH) data.setUint8(out++, byte);
    else out = ascii(data, out, ESCAPED[byte] as string);
  }
  data.setUint8(out, QUOTE);
  return out + 1;
}

/** Copies eight bytes at a time; the last eight may overlap the previous ones, so that none are copied singly. */
function copy(from: DataView, start: number, size: number, data: DataView, to: number): void {
  if (size >= 8) {
    const last = size - 8;
    for (let i = 0; i < last; i += 8) data.setFloat64(to + i, from.getFloat64(start + i, true), true);
    data.setFloat64(to + last, from.getFloat64(start + last, true), true);
  } else for (let i = 0; i < size; i++) data.setUint8(to + i, from.getUint8(start + i));
}

/** Writes microseconds since 1970 as `"2026-03-01T15:04:05.123456Z"`. */
export function instant(data: DataView, to: number, micros: number): number {
  const days = Math.floor(micros / DAY);
  const rest = micros - days * DAY;
  const seconds = Math.floor(rest / 1_000_000);
  const fraction = rest - seconds * 1_000_000;
  const minutes = (seconds / 60) | 0;
  const hours = (minutes / 60) | 0;
  let at = text(data, to, dateText(days));
  data.setUint16(at, PAIRS[hours] as number, true);
  data.setUint8(at + 2, 0x3a);
  data.setUint16(at + 3, PAIRS[minutes - hours * 60] as number, true);
  data.setUint8(at + 5, 0x3a);
  data.setUint16(at + 6, PAIRS[seconds - minutes * 60] as number, true);
  at += 8;
  if (fraction !== 0) {
    const tens = (fraction / 100) | 0;
    const hundreds = (tens / 100) | 0;
    data.setUint8(at, 0x2e);
    data.setUint16(at + 1, PAIRS[hundreds] as number, true);
    data.setUint16(at + 3, PAIRS[tens - hundreds * 100] as number, true);
    data.setUint16(at + 5, PAIRS[fraction - tens * 100] as number, true);
    at += 7;
  }
  data.setUint16(at, END_OF_INSTANT, true);
  return at + 2;
}

export function integer(data: DataView, to: number, value: number): number {
  if (value < 0 || value > 0x7fff_ffff) return ascii(data, to, String(value));
  let width = 1;
  for (let bound = 10; value >= bound; bound *= 10) width++;
  for (let at = to + width - 1, rest = value | 0; at >= to; at--, rest = (rest / 10) | 0) data.setUint8(at, 0x30 + (rest % 10));
  return to + width;
}

export function ascii(data: DataView, to: number, value: string): number {
  for (let i = 0; i < value.length; i++) data.setUint8(to + i, value.charCodeAt(i));
  return to + value.length;
}
