// Reads changes in the order of commit (decisions §14): the log first, then the current records.
import { ApiError } from '@truckroll/contract';
import type { ChangePosition, ReadChangesRequest, ReadChangesResponse, RecordChange } from '@truckroll/contract/gen/records/v1/changes';
import type { Database } from '@truckroll/postgres';
import { VERSIONS_OF_EPOCH, type ChangeClock, type Moment } from './clock.ts';
import type { Backfill } from './backfill.ts';
import type { OwnedKind } from './kinds.ts';

export interface ReadingParts {
  readonly database: Database;
  readonly kinds: ReadonlyMap<string, OwnedKind>;
  readonly clock: ChangeClock;
  readonly backfill: Backfill;
}

/** Positions scanned by one statement, if most of them are of kinds that were not requested. */
const SCANNED_TOGETHER = 5000;
/** Positions scanned for one request. The answer to a few kinds in a large company may thus be empty although there is more. */
const MOST_SCANNED = 50_000;
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** The place of a change in the order of the feed. */
interface Place {
  readonly version: number;
  readonly kind: string;
  readonly id: string;
}

interface Scanned extends Place {
  readonly changed_at: number;
}

/** Order by version, kind, id. Kinds and ids compare as bytes, as the index does. */
function isAfter(a: Place, b: Place): boolean {
  if (a.version !== b.version) return a.version > b.version;
  return a.kind === b.kind ? a.id > b.id : a.kind > b.kind;
}

export function placeOf({ version, after_kind, after_id }: ChangePosition): Place {
  return { version, kind: after_kind, id: after_id === '' ? NO_ID : after_id };
}

/** Checks the kinds and the epoch of positions. Errors: 400, and 410 if the database was restored since they were read. */
export async function prepare(
  { kinds, clock, backfill }: ReadingParts,
  { company_id, positions, epoch }: { company_id: string; positions: readonly ChangePosition[]; epoch?: number | null | undefined },
): Promise<Moment> {
  for (const { kind } of positions) {
    if (kinds.has(kind)) continue;
    const message = `This service has ${[...kinds.keys()].join(', ')}.`;
    throw ApiError.invalid([{ location: 'body', field: 'positions', code: 'INVALID_ENUM_VALUE', message }]);
  }
  await backfill.check(
    company_id,
    positions.map(({ kind }) => kind),
  );
  const moment = await clock.now();
  if (epoch != null && epoch < moment.epoch) throw resyncRequired();
  return moment;
}

export async function readChanges(parts: ReadingParts, request: ReadChangesRequest): Promise<ReadChangesResponse> {
  const { company_id: companyId, time_zone: timeZone, limit, most_bytes: mostBytes } = request;
  const moment = await prepare(parts, request);
  const end: Place = { version: moment.below, kind: '', id: NO_ID };
  if (request.skip) {
    const positions = request.positions.map(({ kind }) => positionAt(kind, end, moment.below));
    return { changes: [], positions, epoch: moment.epoch, more: false, as_of: moment.asOf };
  }
  const places = new Map(request.positions.map((position) => [position.kind, placeOf(position)]));
  const beganAt = new Map(request.positions.map(({ kind, version, began_at }) => [kind, version === 0 ? moment.below : began_at]));
  const found: Scanned[] = [];
  let at = [...places.values()].reduce((least, place) => (isAfter(least, place) ? place : least), end);
  let more = true;
  for (let scanned = 0; found.length < limit && scanned < MOST_SCANNED; ) {
    const most = scanned === 0 ? limit : SCANNED_TOGETHER;
    const next = await scan(parts, companyId, at, moment.below, most);
    scanned += next.length;
    for (const row of next) {
      at = row;
      const place = places.get(row.kind);
      if (place === undefined || !isAfter(row, place)) continue;
      if (found.push(row) === limit) break;
    }
    if (next.length < most) {
      more = false;
      break;
    }
  }
  // The last page may be full although nothing follows; the next one then says so.
  if (!more && found.length < limit) at = end;
  else more = true;
  const changes = await changesAt(parts, { companyId, timeZone }, found, moment);
  const kept = withinBytes(changes, mostBytes);
  if (kept < changes.length) {
    at = found[kept - 1] as Scanned;
    more = true;
  }
  const positions = [...places].map(([kind, place]) => positionAt(kind, isAfter(at, place) ? at : place, beganAt.get(kind) as number));
  // A record that was deleted before the first read is unknown to the reader.
  const known = changes
    .slice(0, kept)
    .filter((change) => change !== undefined)
    .filter(({ kind, version, record }) => record !== undefined || version >= (beganAt.get(kind) as number));
  return { changes: known, positions, epoch: moment.epoch, more, as_of: moment.asOf };
}

function positionAt(kind: string, { version, kind: afterKind, id }: Place, beganAt: number): ChangePosition {
  return { kind, version, after_kind: afterKind, after_id: id === NO_ID ? '' : id, began_at: beganAt };
}

async function scan({ database, kinds }: ReadingParts, companyId: string, after: Place, below: number, most: number): Promise<Scanned[]> {
  const shared = [...new Set([...kinds.values()].flatMap(({ storedUnder }) => storedUnder ?? []))];
  const one = (company: string): string => `(select distinct on (version, kind, id) version, kind, id, changed_at from record_changes
      where company_id = ${company} and (version, kind, id) > ($2, $3, $4) and version < $5 order by version, kind, id limit $6)`;
  const { rows } = await database.of(companyId).query<Scanned>({
    name: `scan_changes_${shared.length}`,
    text: `select * from (${[one('$1'), ...shared.map((_, index) => one(`$${index + 7}`))].join(' union all ')}) places
      order by version, kind, id limit $6`,
    values: [companyId, after.version, after.kind, after.id, below, most, ...shared],
  });
  return rows;
}

/**
 * The changes in the order of `rows`, with the current record, or without one if it has been deleted; undefined where a later change of
 * the record can be read already.
 */
async function changesAt(
  { database, kinds }: ReadingParts,
  company: { companyId: string; timeZone: string },
  rows: readonly Scanned[],
  { epoch, below }: Moment,
): Promise<(RecordChange | undefined)[]> {
  const changes: (RecordChange | undefined)[] = new Array<undefined>(rows.length);
  const read = async (kind: string): Promise<void> => {
    const owned = kinds.get(kind) as OwnedKind;
    const all = rows.flatMap((row, index) => (row.kind === kind ? [{ ...row, index }] : []));
    const versions = await versionsOf(database, owned, company.companyId, all);
    const current = all.filter(({ version, id }) => {
      const latest = versions.get(id) ?? 0;
      return latest <= version || latest >= below;
    });
    const records = await owned.read(
      company,
      current.map(({ id }) => id),
    );
    current.forEach(({ id, version, changed_at, index }, place) => {
      const shown = shownVersion(Math.min(version, versions.get(id) ?? version), epoch);
      const found = records[place];
      const record = found && Buffer.from(found.record.buffer, found.record.byteOffset, found.record.length);
      changes[index] = { kind, id: found?.id ?? id, version: shown, changed_at, ...(record && { record }) };
    });
  };
  await Promise.all([...new Set(rows.map(({ kind }) => kind))].map(read));
  return changes;
}

/** Versions of the latest changes of records that exist. 0 for one that was stored before the feed. */
async function versionsOf(
  database: Database,
  { kind, table, codes, storedUnder }: OwnedKind,
  companyId: string,
  rows: readonly Scanned[],
): Promise<Map<string, number>> {
  const key = codes === true ? 'md5(id)::uuid' : 'id';
  const { rows: found } = await database.of(companyId).query<{ id: string; version: number }>({
    name: `versions_of_${kind}`,
    text: `select ${key} as id, coalesce(change_version, 0) as version from ${table} where company_id = $1 and ${key} = any($2::uuid[])`,
    values: [storedUnder ?? companyId, [...new Set(rows.map(({ id }) => id))]],
  });
  return new Map(found.map(({ id, version }) => [id, version]));
}

/** After a restore, records keep their places, and their versions are above all that were shown before it. */
function shownVersion(version: number, epoch: number): number {
  return Math.max(version, epoch * VERSIONS_OF_EPOCH);
}

/** Number of changes, at least one, whose records together have at most `most` bytes. */
function withinBytes(changes: readonly (RecordChange | undefined)[], most: number): number {
  let bytes = 0;
  const beyond = changes.findIndex((change, index) => (bytes += change?.record?.length ?? 0) > most && index > 0);
  return beyond < 0 ? changes.length : beyond;
}

function resyncRequired(): ApiError {
  return new ApiError(
    'RESYNC_REQUIRED',
    'The database was restored after this cursor was given: start without a cursor, and delete what has not appeared at the end.',
  );
}
