// Cursors (decisions §4): a position in a list, sealed so that only the company that got it can use it, on the same
// route with the same filters. Nothing is stored; a cursor lives as long as the key that sealed it is in the ring.
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { KeyRing } from '@truckroll/service-kit';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/** What a position belongs to; a cursor opens only where all of it is the same. */
export interface CursorScope {
  companyId: string;
  /** Name of the operation. */
  operation: string;
  /** Canonical text of the filters, without page size and cursor. */
  filters: string;
}

export interface Cursors {
  seal(scope: CursorScope, position: Uint8Array): string;
  /** The position, or undefined for anything that `seal` did not make for this scope. */
  open(scope: CursorScope, cursor: string): Buffer | undefined;
}

/**
 * A token is base64url of: length of the key's id (1), id, nonce (12), sealed position, tag (16). Nonces are random;
 * a key of its own for each company keeps their number under one key far below the 2^32 that GCM allows.
 */
export function createCursors(ring: KeyRing): Cursors {
  const [first] = ring;
  if (first === undefined) throw new Error('a key ring needs a key');
  const companyKeys = new LRUCache<string, KeyObject>({ max: 10_000 });
  const nextNonce = nonces();

  function companyKey(id: string, master: Buffer, companyId: string): KeyObject {
    const name = `${id}:${companyId}`;
    let key = companyKeys.get(name);
    if (key === undefined) {
      // As a key object: handing over bytes at every use costs five times as much.
      key = createSecretKey(Buffer.from(hkdfSync('sha256', master, '', `truckroll cursor ${companyId}`, KEY_BYTES)));
      companyKeys.set(name, key);
    }
    return key;
  }

  function seal(scope: CursorScope, position: Uint8Array): string {
    const [id, master] = first as [string, Buffer];
    const nonce = nextNonce();
    const cipher = createCipheriv(CIPHER, companyKey(id, master, scope.companyId), nonce);
    cipher.setAAD(additionalData(id, scope));
    const sealed = [cipher.update(position), cipher.final(), cipher.getAuthTag()];
    return Buffer.concat([Buffer.of(id.length), Buffer.from(id, 'latin1'), nonce, ...sealed]).toString('base64url');
  }

  function open(scope: CursorScope, cursor: string): Buffer | undefined {
    const token = Buffer.from(cursor, 'base64url');
    // Node skips what is not base64url and ignores spare bits; only the one spelling that seal writes is accepted.
    if (token.toString('base64url') !== cursor || token.length === 0) return undefined;
    const body = 1 + (token[0] as number);
    if (token.length < body + NONCE_BYTES + TAG_BYTES) return undefined;
    const id = token.toString('latin1', 1, body);
    const master = ring.get(id);
    if (master === undefined) return undefined;
    const nonce = token.subarray(body, body + NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, companyKey(id, master, scope.companyId), nonce);
    decipher.setAAD(additionalData(id, scope));
    decipher.setAuthTag(token.subarray(token.length - TAG_BYTES));
    const position = decipher.update(token.subarray(body + NONCE_BYTES, token.length - TAG_BYTES));
    try {
      decipher.final();
      return position;
    } catch {
      return undefined;
    }
  }

  return { seal, open };
}

/** Random nonces, fetched from the system a few hundred at a time. */
function nonces(): () => Buffer {
  let pool = Buffer.alloc(0);
  return () => {
    if (pool.length < NONCE_BYTES) pool = randomBytes(NONCE_BYTES * 300);
    const nonce = pool.subarray(0, NONCE_BYTES);
    pool = pool.subarray(NONCE_BYTES);
    return nonce;
  };
}

/** No part can contain the separator: ids and names are plain, and the filters' text comes last. */
function additionalData(keyId: string, scope: CursorScope): Buffer {
  return Buffer.from([keyId, scope.companyId, scope.operation, scope.filters].join('\0'));
}
