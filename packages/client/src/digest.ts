// Compares a copy with the digests of the API.
import type { ChangeKind } from './changes.ts';
import type { SyncStore } from './sync.ts';
import type { components } from './types.ts';

export interface Comparison {
  readonly kind: string;
  /** Records of this kind in the copy. */
  readonly records: number;
  /** Number of them that were compared. Others are in parts that changed after the copy's cursor: sync, and compare again. */
  readonly compared: number;
  /** Whether what was compared is the same. Otherwise load the copy again. */
  readonly equal: boolean;
}

type Sum = Pick<components['schemas']['ChangesDigest'], 'count' | 'digest'>;

const UUID = /^[0-9a-f]{8}-/;
const MODULUS = 2 ** 53;
const EMPTY: Sum = { count: 0, digest: 0 };

/** `digests` are by the first byte of the id, since the copy's cursor. */
export async function compareCopy(
  store: SyncStore,
  digests: readonly components['schemas']['ChangesDigest'][],
  kinds: readonly ChangeKind[] | undefined,
): Promise<Comparison[]> {
  const own = await sumsOf(store);
  const theirs = new Map(digests.map((digest) => [`${digest.kind}/${digest.bucket}`, digest]));
  const results = new Map<string, Comparison>();
  for (const part of new Set([...own.keys(), ...theirs.keys()])) {
    const kind = part.slice(0, part.indexOf('/'));
    if (kinds?.includes(kind as ChangeKind) === false) continue;
    const before = results.get(kind) ?? { kind, records: 0, compared: 0, equal: true };
    const sum = own.get(part) ?? EMPTY;
    const expected = theirs.get(part) ?? { ...EMPTY, changedSince: false };
    const records = before.records + sum.count;
    if (expected.changedSince) results.set(kind, { ...before, records });
    else {
      const equal = before.equal && sum.count === expected.count && sum.digest === expected.digest;
      results.set(kind, { kind, records, compared: before.compared + sum.count, equal });
    }
  }
  return [...results.values()].sort((a, b) => (a.kind < b.kind ? -1 : 1));
}

async function sumsOf(store: SyncStore): Promise<Map<string, Sum>> {
  const sums = new Map<string, Sum>();
  for await (const batch of store.versions()) {
    const hashes = await Promise.all(batch.map(hashOf));
    batch.forEach(({ kind, id }, index) => {
      const part = `${kind}/${bucketOf(id)}`;
      const { count, digest } = sums.get(part) ?? EMPTY;
      const left = MODULUS - digest;
      const hash = hashes[index] as number;
      // Numbers are exact up to 2^53, so the sum must not be computed before it is known to be below.
      sums.set(part, { count: count + 1, digest: hash < left ? digest + hash : hash - left });
    });
  }
  return sums;
}

async function hashOf({ id, version }: { id: string; version: string }): Promise<number> {
  const view = new DataView(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`${id}:${version}`)));
  return view.getUint32(0) * 2 ** 20 + (view.getUint32(4) >>> 12);
}

/** The first byte of an id. Ids are UUIDs or codes. */
function bucketOf(id: string): number {
  return UUID.test(id) ? Number.parseInt(id.slice(0, 2), 16) : (new TextEncoder().encode(id)[0] ?? 0);
}
