// Reads the change feed of a company from the services that own its records (decisions §14).
import { changeKinds, type Owner } from '@truckroll/contract';
import type { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import { ChangeServiceService, type ChangePosition, type RecordChange } from '@truckroll/contract/gen/records/v1/changes';
import type { Channel } from '@truckroll/grpc';
import type { OwnerProgress } from './feed-state.ts';
import type { AllUnchanged } from './held-polls.ts';

/** Size in bytes at which a page ends early: of its JSON, and thus of its records, which are no larger. */
export const MOST_BYTES = 4_000_000;

export interface FeedPage {
  readonly changes: readonly RecordChange[];
  readonly progress: Map<Owner, OwnerProgress>;
  readonly more: boolean;
  /** Microseconds. */
  readonly asOf: number;
  /** What was read from each service that has changes in the page, in order. */
  readonly parts: readonly Part[];
}

interface Part {
  readonly owner: Owner;
  /** Number of the page's changes up to the end of this part. */
  readonly end: number;
  readonly before: OwnerProgress;
  /** Where the kinds that were read began. */
  readonly from: ReadonlyMap<string, ChangePosition>;
  /** Whether the page may end at any of its changes. */
  readonly placed: boolean;
}

export type FeedClients = ReturnType<typeof feedClients>;

/** A client of ChangeService for each service that owns kinds of the feed. */
export function feedClients(channels: Readonly<Record<Owner, Channel>>) {
  const owners = [...new Set(changeKinds.map(({ owner }) => owner))];
  return new Map(owners.map((owner) => [owner, channels[owner].client(ChangeServiceService)]));
}

export function byOwner(kinds: ReadonlySet<string>): Map<Owner, string[]> {
  const groups = new Map<Owner, string[]>();
  for (const { kind, owner } of changeKinds) if (kinds.has(kind)) groups.set(owner, [...(groups.get(owner) ?? []), kind]);
  return groups;
}

const atBeginning = (kind: string): ChangePosition => ({ kind, version: 0, after_kind: '', after_id: '', began_at: 0 });

/** The page after an empty one, when no service has changes of these kinds. */
export function nextEmptyPage({ progress, asOf }: FeedPage, kinds: ReadonlySet<string>, unchanged: AllUnchanged): FeedPage {
  const next = new Map(progress);
  for (const [owner, { below }] of unchanged) {
    const { epoch, positions } = progress.get(owner)!;
    const moved = [...positions].map(([kind, position]): [string, ChangePosition] => [
      kind,
      kinds.has(kind) && below > position.version ? { ...position, version: below, after_kind: '', after_id: '' } : position,
    ]);
    next.set(owner, { epoch, positions: new Map(moved) });
  }
  return { changes: [], parts: [], progress: next, more: false, asOf: Math.max(asOf, Math.min(...[...unchanged.values()].map((each) => each.asOf))) };
}

interface Reading {
  readonly clients: FeedClients;
  readonly principal: Principal;
  readonly kinds: ReadonlySet<string>;
  readonly progress: ReadonlyMap<Owner, OwnerProgress>;
}

/** Reads one owner after another until the page is full. */
export async function readPage(reading: Reading, limit: number, skip: boolean): Promise<FeedPage> {
  const changes: RecordChange[] = [];
  const parts: Part[] = [];
  const progress = new Map(reading.progress);
  const owners = [...byOwner(reading.kinds)];
  let bytes = 0;
  let more = false;
  let asOf = Infinity;
  while (owners.length > 0 && changes.length < limit && bytes < MOST_BYTES) {
    const [owner, kinds] = owners.shift() as (typeof owners)[number];
    const read = await readOwner(reading, owner, kinds, { limit: limit - changes.length, bytes: MOST_BYTES - bytes, skip });
    changes.push(...read.changes);
    bytes += read.changes.reduce((sum, { record }) => sum + (record?.length ?? 0), 0);
    asOf = Math.min(asOf, read.as_of);
    const before = progress.get(owner)?.positions ?? new Map<string, ChangePosition>();
    progress.set(owner, { epoch: read.epoch, positions: new Map([...before, ...read.positions.map((position) => [position.kind, position] as const)]) });
    const from = new Map(read.positions.map(({ kind, began_at }) => [kind, { ...(before.get(kind) ?? atBeginning(kind)), began_at }]));
    parts.push({ owner, end: changes.length, before: { epoch: read.epoch, positions: new Map([...before, ...from]) }, from, placed: read.placed });
    if (read.more) {
      more = true;
      break;
    }
  }
  // The page is full: ask the services that were not read whether they have changes.
  if (!more && owners.length > 0) {
    const rest = await Promise.all(owners.map(([owner, kinds]) => readOwner(reading, owner, kinds, { limit: 1, bytes: 1, skip: false })));
    more = rest.some((read) => read.more || read.changes.length > 0);
    asOf = rest.reduce((least, { as_of }) => Math.min(least, as_of), asOf);
  }
  return { changes, parts, progress, more, asOf };
}

/** The page of the first `count` changes, at least one. Undefined if it cannot end there, because a service is of an older release. */
export function cutPage({ changes, parts, progress, asOf }: FeedPage, count: number): FeedPage | undefined {
  const at = parts.findIndex(({ end }) => end >= count);
  const { owner, before, from, placed } = parts[at] as Part;
  if (!placed) return undefined;
  const last = changes[count - 1] as RecordChange;
  const logged = { version: last.logged_version ?? last.version, after_kind: last.kind, after_id: last.logged_id ?? last.id };
  const read = [...from].map(([kind, position]) => [kind, isAfter(logged, position) ? { ...position, ...logged } : position] as const);
  const cut = new Map(progress).set(owner, { epoch: before.epoch, positions: new Map([...before.positions, ...read]) });
  for (const later of parts.slice(at + 1)) cut.set(later.owner, later.before);
  return { changes: changes.slice(0, count), parts: [], progress: cut, more: true, asOf };
}

type LogPosition = Pick<ChangePosition, 'version' | 'after_kind' | 'after_id'>;

/** The order of the services' logs. An empty id comes before all others. */
function isAfter(a: LogPosition, b: LogPosition): boolean {
  if (a.version !== b.version) return a.version > b.version;
  return a.after_kind === b.after_kind ? a.after_id > b.after_id : a.after_kind > b.after_kind;
}

async function readOwner(
  { clients, principal: { company_id, time_zone }, progress }: Reading,
  owner: Owner,
  kinds: readonly string[],
  { limit, bytes, skip }: { limit: number; bytes: number; skip: boolean },
) {
  const known = progress.get(owner);
  const positions = kinds.map((kind) => known?.positions.get(kind) ?? atBeginning(kind));
  return clients.get(owner)!.readChanges({ company_id, time_zone, positions, epoch: known?.epoch ?? null, limit, most_bytes: bytes, skip });
}

export interface Digest {
  readonly kind: string;
  readonly bucket: number;
  readonly count: number;
  readonly digest: number;
  readonly changed_since: boolean;
}

/** Digests ordered by kind and bucket (decisions §14, rule 9). Without `buckets` each kind has one, even if empty. Rejects if one of the services does. */
export async function readDigest(reading: Reading, buckets: boolean): Promise<{ digests: Digest[]; asOf: number }> {
  const { clients, principal, progress } = reading;
  const answers = await Promise.all(
    [...byOwner(reading.kinds)].map(([owner, kinds]) => {
      const known = progress.get(owner);
      const positions = kinds.map((kind) => known?.positions.get(kind) ?? atBeginning(kind));
      return clients.get(owner)!.digestRecords({ company_id: principal.company_id, positions, epoch: known?.epoch ?? null, buckets });
    }),
  );
  const digests: Digest[] = answers.flatMap((answer) => answer.digests);
  if (!buckets) {
    const found = new Set(digests.map(({ kind }) => kind));
    for (const { kind, owner } of changeKinds) {
      if (!reading.kinds.has(kind) || found.has(kind)) continue;
      digests.push({ kind, bucket: 0, count: 0, digest: 0, changed_since: progress.get(owner)?.positions.has(kind) !== true });
    }
  }
  digests.sort((a, b) => (a.kind === b.kind ? a.bucket - b.bucket : a.kind < b.kind ? -1 : 1));
  return { digests, asOf: Math.min(...answers.map(({ as_of }) => as_of)) };
}
