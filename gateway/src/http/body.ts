// Reads request bodies completely before they are parsed, at most 64 KB, before and after decompression (api.md, Limits).
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { ApiError, TOO_DEEP, isTooDeep, problemsOfJsonText, type DetailCode, type ErrorDetail, type KeyStyle, type Shape } from '@truckroll/contract';
import { readJsonText } from './json-text.ts';

export const MOST_BODY_BYTES = 65_536;

const DECODERS: Readonly<Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** The body's bytes, decompressed; empty if there is no body. Throws ApiError 400. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const { 'content-length': length, 'transfer-encoding': chunked, 'content-encoding': encoding } = request.headers;
  if ((length === undefined || length === '0') && chunked === undefined) return Buffer.alloc(0);
  // The body is not read: Node discards it after the answer.
  if (Number(length) > MOST_BODY_BYTES) throw tooLarge();
  const bytes = await collect(request);
  const name = encoding?.trim().toLowerCase() ?? 'identity';
  return name === 'identity' || name === '' || bytes.length === 0 ? bytes : decompress(bytes, name);
}

/** The body as JSON, which should be a message of the shape. If it cannot be read, returns undefined. Adds what is wrong to `problems`. */
export function parseJsonBody(bytes: Buffer, contentType: string | undefined, shape: Shape, keys: KeyStyle, problems: ErrorDetail[]): unknown {
  const fail = (location: 'header' | 'body', field: string, code: DetailCode, message: string): undefined => {
    problems.push({ location, field, code, message });
  };
  const refusal = contentType === undefined || contentType === 'application/json' ? undefined : refuseType(contentType);
  if (refusal !== undefined) return fail('header', 'Content-Type', 'INVALID_FORMAT', refusal);
  if (bytes.length === 0) return fail('body', 'body', 'MISSING', 'Send a JSON object as the body.');
  const read = readJsonText(bytes);
  if (read === undefined) return fail('body', 'body', 'INVALID_FORMAT', 'The body is not JSON in UTF-8: send a JSON object.');
  if (isTooDeep(read.json)) return fail('body', 'body', 'INVALID_FORMAT', TOO_DEEP);
  for (const problem of problemsOfJsonText(shape, read.text, read.json, keys)) problems.push({ location: 'body', ...problem });
  return read.json;
}

/** Why a body of this type cannot be read; undefined if it can. */
function refuseType(contentType: string): string | undefined {
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  if (!/^application\/(.+\+)?json$/.test(type)) return 'Send JSON, and say so: Content-Type: application/json.';
  const charset = parameters
    .find((part) => part.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '');
  return charset === undefined || charset === 'utf-8' || charset === 'utf8' ? undefined : 'Encode the body as UTF-8.';
}

function collect(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    const onData = (part: Buffer): void => {
      size += part.length;
      if (size <= MOST_BODY_BYTES) return void parts.push(part);
      // Keep reading and discard, so that a client that sends everything before it reads still gets its answer.
      request.off('data', onData).resume();
      reject(tooLarge());
    };
    request.on('data', onData);
    request.once('end', () => resolve(Buffer.concat(parts)));
    request.once('error', reject);
    request.once('aborted', () => reject(new RequestAborted()));
  });
}

/** The client went away before its request was complete, so no answer can be sent. */
export class RequestAborted extends Error {
  override readonly name = 'RequestAborted';
}

async function decompress(bytes: Buffer, encoding: string): Promise<Buffer> {
  const decode = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (decode === undefined) {
    throw invalid('header', 'Content-Encoding', 'INVALID_FORMAT', 'Send the body plain or compressed with gzip, deflate or br.');
  }
  try {
    return await decode(bytes, { maxOutputLength: MOST_BODY_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw invalid('body', 'body', 'INVALID_FORMAT', `The body cannot be decompressed as ${encoding}.`);
  }
}

function tooLarge(): ApiError {
  return invalid('body', 'body', 'TOO_LARGE', `Send at most ${MOST_BODY_BYTES} bytes, also after decompression.`);
}

function invalid(location: 'header' | 'body', field: string, code: DetailCode, message: string): ApiError {
  return ApiError.invalid([{ location, field, code, message }]);
}
