// Reads changes in the order of commit (decisions §14): the log first, then the current records. Versions are shown ones (moment.ts), except in
// statements.
import type { Runner } from '@truckroll/catch-up';
import { ApiError } from '@truckroll/contract';
import type { ChangePosition, ReadChangesRequest, ReadChangesResponse, RecordChange } from '@truckroll/contract/gen/records/v1/changes';
import type { Database } from '@truckroll/postgres';
import type { ChangeClock } from './clock.ts';
import type { OwnedKind, ReadRecord, ZonedCompany } from './kinds.ts';
import type { CompanyMoment } from './moment.ts';

export interface ReadingParts {
  readonly database: Database;
  readonly kinds: ReadonlyMap<string, OwnedKind>;
  readonly clock: ChangeClock;
  readonly backfilled: Pick<Runner, 'check'>;
}

const SCANNED_TOGETHER = 5000;
/** Rows scanned for one request. The answer to a few kinds in a large company may thus be empty although there is more. */
const MOST_SCANNED = 50_000;
const NO_ID = '00000000-0000-0000-0000-000000000000';

interface LogPosition {
  readonly version: number;
  readonly kind: string;
  readonly id: string;
}

interface Scanned extends LogPosition {
  readonly changed_at: number;
}

interface Found extends Scanned {
  /** Version of the record's latest change, 0 if it was stored before the feed. Undefined if the record has been deleted. */
  readonly latest: number | undefined;
}

/** Order by version, kind, id. Kinds and ids compare as bytes, as the index does. */
function isAfter(a: LogPosition, b: LogPosition): boolean {
  if (a.version !== b.version) return a.version > b.version;
  return a.kind === b.kind ? a.id > b.id : a.kind > b.kind;
}

/** The position in the log after which to read. One without `after_kind` comes before every row of its version. */
export function logPositionOf({ version, after_kind, after_id }: ChangePosition): LogPosition {
  return { version, kind: after_kind, id: after_id === '' ? NO_ID : after_id };
}

/** Versions by which a position may be above what can be read: after a crash, a server repeats a few ids. Moves skip twice as many (AHEAD in move.ts). */
const MOST_ABOVE = 5 * 10 ** 11;

/**
 * Checks the kinds and the epoch of positions. Errors: 400; 410 if the database was restored since they were read, or if they are of a database that the
 * company has left without its rows; 503 before the back-fill is done.
 */
export async function prepare(
  { kinds, clock, backfilled }: ReadingParts,
  { company_id, positions, epoch }: { company_id: string; positions: readonly ChangePosition[]; epoch?: number | null | undefined },
): Promise<CompanyMoment> {
  for (const { kind } of positions) {
    if (kinds.has(kind)) continue;
    const message = `This service has ${[...kinds.keys()].join(', ')}.`;
    throw ApiError.invalid([{ location: 'body', field: 'positions', code: 'INVALID_ENUM_VALUE', message }]);
  }
  await backfilled.check(
    company_id,
    positions.map(({ kind }) => kind),
  );
  const moment = await clock.of(company_id);
  const isOfAnother = positions.some(({ version, began_at }) => Math.max(version, began_at) > moment.below + MOST_ABOVE);
  if ((epoch != null && epoch !== moment.epoch) || isOfAnother) throw resyncRequired();
  return moment;
}

/** ChangeService.ReadChanges: a company's changes after the positions, by commit. Errors: as `prepare`. A page can be empty although `more` is true. */
export async function readChanges(parts: ReadingParts, request: ReadChangesRequest): Promise<ReadChangesResponse> {
  const { company_id: companyId, time_zone: timeZone, limit, most_bytes: mostBytes } = request;
  const moment = await prepare(parts, request);
  const end: LogPosition = { version: moment.below, kind: '', id: NO_ID };
  if (request.skip) {
    const positions = request.positions.map(({ kind }) => positionAt(kind, end, moment.below));
    return { changes: [], positions, epoch: moment.epoch, more: false, as_of: moment.asOf, placed: true };
  }
  const starts = new Map(request.positions.map((position) => [position.kind, logPositionOf(position)]));
  const beganAt = new Map(request.positions.map(({ kind, version, began_at }) => [kind, version === 0 ? moment.below : began_at]));
  const isWanted = (row: Scanned): boolean => {
    const start = starts.get(row.kind);
    return start !== undefined && isAfter(row, start);
  };
  const found: Found[] = [];
  let at = [...starts.values()].reduce((least, start) => (isAfter(least, start) ? start : least), end);
  let more = true;
  for (let scanned = 0; found.length < limit && scanned < MOST_SCANNED; ) {
    // Twice as many each time: most rows may be of kinds that were not requested, or superseded.
    const most = Math.min(SCANNED_TOGETHER, Math.max(limit, scanned));
    const rows = await scan(parts, companyId, at, moment, most);
    scanned += rows.length;
    const versions = await versionsOf(parts, companyId, rows.filter(isWanted), moment.added);
    for (const row of rows) {
      at = row;
      if (!isWanted(row)) continue;
      const latest = versions.get(keyOf(row));
      // A record that was deleted before the first read is unknown to the reader.
      const isUnknown = latest === undefined && row.version < (beganAt.get(row.kind) ?? 0);
      const isSuperseded = latest !== undefined && latest > row.version && latest < moment.below;
      if (isUnknown || isSuperseded) continue;
      if (found.push({ ...row, latest }) === limit) break;
    }
    if (rows.length < most) {
      more = false;
      break;
    }
  }
  // The last page may be full although nothing follows; the next one then says so.
  if (!more && found.length < limit) at = end;
  else more = true;
  const records = await recordsOf(parts.kinds, { companyId, timeZone }, found, mostBytes);
  const unread = found.findIndex((row) => row.latest !== undefined && !records.has(row));
  const changes = (unread === -1 ? found : found.slice(0, unread)).map((row) => changeOf(row, records.get(row), lowestIn(parts.kinds, row.kind, moment)));
  const kept = withinBytes(changes, mostBytes);
  if (kept < found.length) {
    at = found[kept - 1] as Scanned;
    more = true;
  }
  const positions = [...starts].map(([kind, start]) => positionAt(kind, isAfter(at, start) ? at : start, beganAt.get(kind) as number));
  return { changes: changes.slice(0, kept).filter((change) => change !== undefined), positions, epoch: moment.epoch, more, as_of: moment.asOf, placed: true };
}

function positionAt(kind: string, { version, kind: afterKind, id }: LogPosition, beganAt: number): ChangePosition {
  return { kind, version, after_kind: afterKind, after_id: id === NO_ID ? '' : id, began_at: beganAt };
}

async function scan(
  { database, kinds }: ReadingParts,
  companyId: string,
  after: LogPosition,
  { below, added, sharedFrom }: CompanyMoment,
  most: number,
): Promise<Scanned[]> {
  const shared = [...new Set([...kinds.values()].flatMap(({ storedUnder }) => storedUnder ?? []))];
  const one = (company: string, version = 'version'): string => `(select distinct on (version, kind, id) version, kind, id, changed_at
      from (select ${version}, kind, id, changed_at from record_changes where company_id = ${company}) c
      where (version, kind, id) > ($2, $3, $4) and version < $5 order by version, kind, id limit $6)`;
  // A company that has moved has read none of the changes that all companies share. They are few.
  // PostgreSQL refuses a value that the statement does not name.
  const lowest = shared.length === 0 ? undefined : sharedFrom;
  const raised = lowest === undefined ? 'version' : 'greatest(version, $8) as version';
  const firstShared = lowest === undefined ? 8 : 9;
  const { rows } = await database.of(companyId).query<Scanned>({
    name: `scan_changes_${shared.length}${lowest === undefined ? '' : '_moved'}`,
    text: `select version + $7 as version, kind, id, changed_at
      from (${[one('$1'), ...shared.map((_, index) => one(`$${index + firstShared}`, raised))].join(' union all ')}) logged
      order by logged.version, kind, id limit $6`,
    values: [companyId, after.version - added, after.kind, after.id, below - added, most, added, ...(lowest === undefined ? [] : [lowest - added]), ...shared],
  });
  return rows;
}

const keyOf = ({ kind, id }: Scanned): string => `${kind} ${id}`;

/** The rows of each kind. A page reads one kind after another, so that it takes one connection, and one turn in the queue for it. */
const byKind = <T extends LogPosition>(rows: readonly T[]): Map<string, T[]> => Map.groupBy(rows, ({ kind }) => kind);

/** Versions of the latest changes of these records, by keyOf: without those that have been deleted. */
async function versionsOf({ database, kinds }: ReadingParts, companyId: string, rows: readonly Scanned[], added: number): Promise<Map<string, number>> {
  const versions = new Map<string, number>();
  for (const [kind, ofKind] of byKind(rows)) {
    const { table, codes, storedUnder } = kinds.get(kind) as OwnedKind;
    const key = codes === true ? 'md5(id)::uuid' : 'id';
    const { rows: records } = await database.of(companyId).query<{ id: string; version: number }>({
      name: `versions_of_${kind}`,
      text: `select ${key} as id, coalesce(change_version + $3, 0) as version from ${table} where company_id = $1 and ${key} = any($2::uuid[])`,
      values: [storedUnder ?? companyId, [...new Set(ofKind.map(({ id }) => id))], added],
    });
    for (const { id, version } of records) versions.set(`${kind} ${id}`, version);
  }
  return versions;
}

/** Without the rows of each kind that would exceed `most` bytes. */
async function recordsOf(
  kinds: ReadonlyMap<string, OwnedKind>,
  company: ZonedCompany,
  rows: readonly Found[],
  most: number,
): Promise<Map<Found, ReadRecord | undefined>> {
  const records = new Map<Found, ReadRecord | undefined>();
  for (const [kind, ofKind] of byKind(rows.filter(({ latest }) => latest !== undefined))) {
    const found = await kinds.get(kind)!.read(
      company,
      ofKind.map(({ id }) => id),
      most,
    );
    found.forEach((record, index) => records.set(ofKind[index] as Found, record));
  }
  return records;
}

/** Undefined for a record that was deleted after its version was read: its deletion comes later. */
function changeOf({ kind, id, version, changed_at, latest }: Found, read: ReadRecord | undefined, lowest: number): RecordChange | undefined {
  if (latest === undefined) {
    const shown = Math.max(version, lowest);
    return { kind, id, version: shown, changed_at, ...(shown === version ? {} : { logged_version: version }) };
  }
  if (read === undefined) return undefined;
  const { buffer, byteOffset, length } = read.record;
  const shown = Math.max(Math.min(version, latest), lowest);
  const logged = { ...(shown === version ? {} : { logged_version: version }), ...(read.id === id ? {} : { logged_id: id }) };
  return { kind, id: read.id, version: shown, changed_at, record: Buffer.from(buffer, byteOffset, length), ...logged };
}

/** The lowest version of a record of the kind. After a restore, records keep their positions, and their versions are above all that were shown before it. */
export function lowestIn(kinds: ReadingParts['kinds'], kind: string, { lowest, sharedFrom = lowest }: CompanyMoment): number {
  return kinds.get(kind)!.storedUnder === undefined ? lowest : Math.max(lowest, sharedFrom);
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
    'The database was restored after this cursor was issued: start without a cursor, and delete the records that have not appeared by the end.',
  );
}
