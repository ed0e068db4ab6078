// Sums by which a copy can prove that it is complete (decisions §14, rule 9).
import type { DigestRecordsRequest, DigestRecordsResponse, RecordDigest } from '@truckroll/contract/gen/records/v1/changes';
import { VERSIONS_OF_EPOCH } from './clock.ts';
import { placeOf, prepare, type ReadingParts } from './read.ts';

/** Sums are kept below 2^53, which every language's numbers hold exactly. */
const MODULUS = 2 ** 53;

export async function digestRecords(parts: ReadingParts, request: DigestRecordsRequest): Promise<DigestRecordsResponse> {
  const { company_id: companyId, positions, buckets } = request;
  const { epoch, asOf } = await prepare(parts, request);
  const digests = await Promise.all(
    positions.map(async (position): Promise<RecordDigest[]> => {
      const { kind } = position;
      const { table, codes, storedUnder = companyId } = parts.kinds.get(kind)!;
      const place = placeOf(position);
      const bucketOf = (id: string): string => (!buckets ? '0' : `get_byte(${codes === true ? `convert_to(${id}, 'UTF8')` : `uuid_send(${id})`}, 0)`);
      // A code is not in the log. No record with a code is ever deleted.
      const changed = codes === true ? `record_changes c join ${table} t on t.company_id = c.company_id and md5(t.id)::uuid = c.id` : 'record_changes c';
      const { rows } = await parts.database.of(companyId).query<Omit<RecordDigest, 'kind'>>({
        text: `with live as (
            select ${bucketOf('id')} as bucket, count(*) as count,
              (sum(('x' || left(encode(sha256(convert_to(id || ':' || greatest(change_version, $3), 'UTF8')), 'hex'), 13))::bit(52)::bigint)
                % ${MODULUS})::bigint as digest
            from ${table} where company_id = $1 group by 1),
          changed as (
            select distinct ${bucketOf(codes === true ? 't.id' : 'c.id')} as bucket from ${changed}
            where c.company_id = $1 and (c.version, c.kind, c.id) > ($4, $5, $6) and c.kind = $2)
          select bucket, coalesce(count, 0) as count, coalesce(digest, 0) as digest, changed.bucket is not null as changed_since
          from live full join changed using (bucket) order by bucket`,
        values: [storedUnder, kind, epoch * VERSIONS_OF_EPOCH, place.version, place.kind, place.id],
      });
      return rows.map((row) => ({ ...row, kind }));
    }),
  );
  return { digests: digests.flat(), as_of: asOf };
}
