// The form of an API key (decisions §8): `trk_`, 32 random base62 characters, and their CRC-32 as 6 more. The checksum lets the
// gateway refuse a mistyped key without a lookup.
import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'trk_';
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const FORM = /^trk_[0-9A-Za-z]{38}$/;

/** A new key: 190 random bits. Only its hash is ever stored. */
export function generateApiKey(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]);
  const body = PREFIX + random.join('');
  return body + checksum(body);
}

/** Whether the text has the form and checksum of a key, not whether such a key exists. */
export function isApiKey(text: string): boolean {
  if (!FORM.test(text)) return false;
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

/** SHA-256, stored and looked up instead of the key. The key is random, so it needs neither salt nor stretching. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** The parts of a key by which people recognise it. They are stored next to its hash and shown by the API (decisions §8). */
export function apiKeyEnds(key: string): { keyPrefix: string; keySuffix: string } {
  return { keyPrefix: key.slice(0, 8), keySuffix: key.slice(-4) };
}

function checksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = (ALPHABET[rest % ALPHABET.length] as string) + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}
