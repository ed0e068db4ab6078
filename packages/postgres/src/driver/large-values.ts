// Sends statements with large values, such as arrays of an import's columns, without copying the values.
//
// Fault: pg copies values into a message that it reallocates as it grows. That was seven tenths of all buffer bytes of an import in
// reporting, and a quarter in billing; they trigger full collections.
// Upstream: no upstream issue known; the same copies are in brianc/node-postgres#1680.
// Ends: with a version of pg that writes large values to the socket without copying them.
import type { Writable } from 'node:stream';

export interface Binding {
  readonly portal?: string;
  readonly statement?: string;
  readonly values?: readonly unknown[];
  readonly binary?: boolean;
  /** Encodes a value: buffers are sent in the binary format, strings as text. */
  readonly valueMapper: (value: unknown, index: number) => Buffer | string | null | undefined;
}

export interface BindingConnection {
  readonly stream: Writable;
  bind(binding: Binding): void;
}

/** Size in bytes from which a value is not copied. */
const LARGE = 16 * 1024;
const BIND = 0x42;

/** Patches a pg connection to send large values without a copy. They must not change until the statement has been answered. */
export function sendLargeValues(connection: BindingConnection): void {
  const bind = connection.bind.bind(connection);
  connection.bind = (binding) => {
    const isLarge = (value: unknown): boolean => Buffer.isBuffer(value) && value.length >= LARGE;
    if (binding.values?.some(isLarge) !== true) return bind(binding);
    const pieces = bindMessage(binding, binding.values);
    if (connection.stream.writable) for (const piece of pieces) connection.stream.write(piece);
  };
}

function bindMessage({ portal = '', statement = '', binary = false, valueMapper }: Binding, given: readonly unknown[]): Buffer[] {
  const values = given.map((value, index) => valueMapper(value, index) ?? null);
  const formats = values.map((value) => int16(Buffer.isBuffer(value) ? 1 : 0));
  const contents = values.flatMap((value) => {
    if (value === null) return int32(-1);
    const content = Buffer.isBuffer(value) ? value : Buffer.from(value);
    return [int32(content.length), content];
  });
  const names = Buffer.from(`${portal}\0${statement}\0`);
  const body = [names, int16(values.length), ...formats, int16(values.length), ...contents, int16(1), int16(binary ? 1 : 0)];
  const length = body.reduce((sum, piece) => sum + piece.length, 4);
  return [Buffer.of(BIND), int32(length), ...body];
}

function int16(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(value);
  return bytes;
}
