// Cursors (decisions §4): a position in a list, sealed so that only the company that got it can use it, on the same route with the same
// filters. Nothing is stored: a cursor is valid as long as the key that sealed it is in the ring.
import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { seal, sealedBy, unseal, type KeyRing } from '@truckroll/process';
import { LRUCache } from 'lru-cache';

const KEY_BYTES = 32;

/** What a cursor is bound to. It opens only if all of it is the same. */
export interface CursorScope {
  companyId: string;
  operation: string;
  /** Canonical text of the filters, without page size and cursor. */
  filters: string;
}

export interface Cursors {
  seal(scope: CursorScope, position: Uint8Array): string;
  /** The position, or undefined if `seal` did not make the cursor for this scope. */
  open(scope: CursorScope, cursor: string): Buffer | undefined;
}

/** Cursors are base64url. Each company has a separate key, which keeps the number of seals per key low. */
export function createCursors(ring: KeyRing): Cursors {
  const companyKeys = new LRUCache<string, KeyObject>({ max: 10_000 });

  function companyKey(id: string, master: KeyObject, companyId: string): KeyObject {
    const name = `${id}:${companyId}`;
    let key = companyKeys.get(name);
    if (key === undefined) {
      key = createSecretKey(Buffer.from(hkdfSync('sha256', master, '', `truckroll cursor ${companyId}`, KEY_BYTES)));
      companyKeys.set(name, key);
    }
    return key;
  }

  return {
    seal(scope, position) {
      const { firstId: id, first } = ring;
      return seal(id, companyKey(id, first, scope.companyId), additionalData(id, scope), position).toString('base64url');
    },
    open(scope, cursor) {
      const sealed = Buffer.from(cursor, 'base64url');
      // Node ignores characters outside base64url and unused bits, so only the exact text that `seal` writes is accepted.
      if (sealed.toString('base64url') !== cursor) return undefined;
      const id = sealedBy(sealed);
      const master = id === undefined ? undefined : ring.get(id);
      if (id === undefined || master === undefined) return undefined;
      return unseal(companyKey(id, master, scope.companyId), additionalData(id, scope), sealed);
    },
  };
}

/** No part can contain the separator: ids and names are plain text, and the filters come last. */
function additionalData(keyId: string, scope: CursorScope): Buffer {
  return Buffer.from([keyId, scope.companyId, scope.operation, scope.filters].join('\0'));
}
