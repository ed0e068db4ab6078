import { createSecretKey, type KeyObject } from 'node:crypto';

const KEY_BYTES = 32;

export const KEY_RING_FORM = `id:key,… with distinct ids of up to 16 letters and digits and keys of ${KEY_BYTES} bytes in base64, drawn at random (openssl rand -base64 ${KEY_BYTES})`;

/** Keys by id, in order: the first seals or signs, all open or verify. KeyObjects, because handing over raw bytes costs five times as much. */
export class KeyRing {
  readonly firstId: string;
  readonly first: KeyObject;
  readonly #keys: ReadonlyMap<string, KeyObject>;

  constructor(keys: Iterable<readonly [id: string, key: Buffer]>) {
    this.#keys = new Map([...keys].map(([id, key]) => [id, createSecretKey(key)]));
    const [first] = this.#keys;
    if (first === undefined) throw new Error('a key ring needs a key');
    [this.firstId, this.first] = first;
  }

  get(id: string): KeyObject | undefined {
    return this.#keys.get(id);
  }
}

/** Undefined if the text has another form, an id is repeated, or a key is one repeated byte. */
export function parseKeyRing(text: string): KeyRing | undefined {
  const keys = new Map<string, Buffer>();
  for (const entry of text.split(',').map((part) => part.trim())) {
    const [, id = '', encoded = ''] = /^([A-Za-z0-9_-]{1,16}):([A-Za-z0-9+/]+=*)$/.exec(entry) ?? [];
    const key = Buffer.from(encoded, 'base64');
    if (key.length !== KEY_BYTES || keys.has(id) || new Set(key).size === 1) return undefined;
    keys.set(id, key);
  }
  return new KeyRing(keys);
}
