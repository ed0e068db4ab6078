// Sums by which a copy can prove that it is complete (decisions §14, rule 9).
import type { ChangePosition, DigestRecordsRequest, DigestRecordsResponse, RecordDigest } from '@truckroll/contract/gen/records/v1/changes';
import type { CompanyMoment } from './moment.ts';
import { logPositionOf, lowestIn, prepare, type ReadingParts } from './read.ts';

/** Sums are kept below 2^53, which every language's numbers hold exactly. */
const MODULUS = 2 ** 53;
/** Time in ms that sums of live records are kept: each takes a pass over all records of a kind, and copies of a company ask together. */
const KEPT_MS = 5000;
/** Maximum kinds of companies whose sums are kept, with up to 256 buckets of about 100 bytes each. */
const MOST_KEPT = 200;

interface Sums {
  readonly count: number;
  readonly digest: number;
}

/** Sums of the live records of a kind, by bucket, and a moment before they were read. */
interface Live {
  readonly moment: CompanyMoment;
  readonly buckets: ReadonlyMap<number, Sums>;
}

export function digester(parts: ReadingParts): (request: DigestRecordsRequest) => Promise<DigestRecordsResponse> {
  const kept = new Map<string, Promise<Live>>();

  /** Sums of a kind that include every change before the position. */
  async function liveAt(position: ChangePosition, companyId: string, buckets: boolean, moment: CompanyMoment): Promise<Live> {
    const { epoch, added, sharedFrom } = moment;
    const key = [companyId, position.kind, buckets, epoch, added, sharedFrom].join(' ');
    const known = kept.get(key);
    if (known !== undefined) {
      const live = await known;
      if (includes(live.moment, position)) return live;
    }
    const read = readLive(parts, position.kind, companyId, buckets, moment);
    if (kept.size < MOST_KEPT) {
      kept.set(key, read);
      const forget = (): void => void (kept.get(key) === read && kept.delete(key));
      setTimeout(forget, KEPT_MS).unref();
      read.catch(forget);
    }
    return read;
  }

  return async (request) => {
    const moment = await prepare(parts, request);
    const answers = await Promise.all(
      request.positions.map(async (position) => {
        const companyId = parts.kinds.get(position.kind)!.storedUnder ?? request.company_id;
        // The changes are read after the sums: a bucket without a change since the position is then what its sum says.
        const { moment: readAt, buckets } = await liveAt(position, companyId, request.buckets, moment);
        const changed = await readChanged(parts, position, companyId, request.buckets, moment);
        const all = [...new Set([...buckets.keys(), ...changed])].toSorted((a, b) => a - b);
        const digests = all.map((bucket): RecordDigest => {
          const { count, digest } = buckets.get(bucket) ?? { count: 0, digest: 0 };
          return { kind: position.kind, bucket, count, digest, changed_since: changed.has(bucket) };
        });
        return { digests, asOf: readAt.asOf };
      }),
    );
    return { digests: answers.flatMap(({ digests }) => digests), as_of: Math.min(moment.asOf, ...answers.map(({ asOf }) => asOf)) };
  };
}

/** Whether what was read after the moment includes every change before the position. */
function includes({ below }: CompanyMoment, { version, after_kind }: ChangePosition): boolean {
  return version < below || (version === below && after_kind === '');
}

function bucketOf(id: string, buckets: boolean, codes: boolean | undefined): string {
  return !buckets ? '0' : `get_byte(${codes === true ? `convert_to(${id}, 'UTF8')` : `uuid_send(${id})`}, 0)`;
}

async function readLive({ database, kinds }: ReadingParts, kind: string, companyId: string, buckets: boolean, moment: CompanyMoment): Promise<Live> {
  const { table, codes } = kinds.get(kind)!;
  const { rows } = await database.of(companyId).query<Sums & { bucket: number }>({
    text: `select ${bucketOf('id', buckets, codes)} as bucket, count(*) as count,
        (sum(('x' || left(encode(sha256(convert_to(id || ':' || greatest(change_version + $3, $2), 'UTF8')), 'hex'), 13))::bit(52)::bigint)
          % ${MODULUS})::bigint as digest
      from ${table} where company_id = $1 group by 1`,
    values: [companyId, lowestIn(kinds, kind, moment), moment.added],
  });
  return { moment, buckets: new Map(rows.map(({ bucket, ...sums }) => [bucket, sums])) };
}

/** Buckets of a kind in which something has changed since the position. */
async function readChanged(
  { database, kinds }: ReadingParts,
  position: ChangePosition,
  companyId: string,
  buckets: boolean,
  { added, sharedFrom }: CompanyMoment,
): Promise<Set<number>> {
  const { table, codes, storedUnder } = kinds.get(position.kind)!;
  const after = logPositionOf(position);
  // A code is not in the log. No record with a code is ever deleted.
  const changed = codes === true ? `record_changes c join ${table} t on t.company_id = c.company_id and md5(t.id)::uuid = c.id` : 'record_changes c';
  const raised = storedUnder !== undefined && sharedFrom !== undefined ? sharedFrom - added : undefined;
  const { rows } = await database.of(companyId).query<{ bucket: number }>({
    text: `select distinct ${bucketOf(codes === true ? 't.id' : 'c.id', buckets, codes)} as bucket from ${changed}
      where c.company_id = $1 and (${raised === undefined ? 'c.version' : 'greatest(c.version, $6)'}, c.kind, c.id) > ($3, $4, $5) and c.kind = $2`,
    values: [companyId, position.kind, after.version - added, after.kind, after.id, ...(raised === undefined ? [] : [raised])],
  });
  return new Set(rows.map(({ bucket }) => bucket));
}
