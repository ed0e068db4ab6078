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
      // The id as clients know it, and its first byte.
      const id = codes === true ? `(select t.id from ${table} t where t.company_id = p.company_id and md5(t.id)::uuid = p.id)` : 'p.id::text';
      const firstByte = codes === true ? `get_byte(convert_to(${id}, 'UTF8'), 0)` : 'get_byte(uuid_send(p.id), 0)';
      const { rows } = await parts.database.of(companyId).query<Omit<RecordDigest, 'kind'>>({
        text: `select ${buckets ? firstByte : '0'} as bucket, count(*) filter (where not p.deleted) as count,
            (coalesce(sum(('x' || left(encode(sha256(convert_to(${id} || ':' || greatest(p.version, $3), 'UTF8')), 'hex'), 13))::bit(52)::bigint)
              filter (where not p.deleted), 0) % ${MODULUS})::bigint as digest,
            bool_or((p.version, p.kind, p.id) > ($4, $5, $6)) as changed_since
          from change_positions p where p.company_id = $1 and p.kind = $2 group by 1 order by 1`,
        values: [storedUnder, kind, epoch * VERSIONS_OF_EPOCH, place.version, place.kind, place.id],
      });
      return rows.map((row) => ({ ...row, kind }));
    }),
  );
  return { digests: digests.flat(), as_of: asOf };
}
