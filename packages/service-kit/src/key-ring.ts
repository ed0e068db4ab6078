/** Keys by their id, in order: the first one seals or signs, all open or verify. */
export type KeyRing = ReadonlyMap<string, Buffer>;

const KEY_BYTES = 32;

export const KEY_RING_FORM = `id:key,… with distinct ids of up to 16 letters and digits and keys of ${KEY_BYTES} bytes in base64, drawn at random (openssl rand -base64 ${KEY_BYTES})`;

/** Undefined where the text has another form, an id comes twice, or a key is one byte again and again. */
export function parseKeyRing(text: string): KeyRing | undefined {
  const ring = new Map<string, Buffer>();
  for (const entry of text.split(',').map((part) => part.trim())) {
    const [, id, encoded] = /^([A-Za-z0-9_-]{1,16}):([A-Za-z0-9+/]+=*)$/.exec(entry) ?? [];
    const key = Buffer.from(encoded ?? '', 'base64');
    if (id === undefined || key.length !== KEY_BYTES || ring.has(id) || new Set(key).size === 1) return undefined;
    ring.set(id, key);
  }
  return ring;
}
