import { setImmediate as turn } from 'node:timers/promises';
import { codec, resource, type TopicDefinition } from '@truckroll/contract';
import { arrayOf, binaryArrays, type ArrayType, type Queryable, type Statement } from '@truckroll/postgres';
import { handled } from '@truckroll/process';
import type { ReadModel } from './read-model.ts';

/** Records per statement: while PostgreSQL stores some, the next are decoded here. */
const AT_ONCE = 500;

export interface ReadModelColumn<R> {
  type: ArrayType;
  /** Returns a value for arrayOf, never undefined: null if the record lacks the field. */
  of: (record: R) => string | number | Buffer | null;
  /** The column contains names and is not compared: the owner shows the latest names, a read model those it received. */
  followsNames?: true;
}

export interface RecordReadModelDefinition<R> {
  topic: TopicDefinition;
  path: string;
  /** The path unless given. */
  table?: string;
  version?: number;
  /** Column with the job whose figures depend on the record. */
  jobColumn?: string;
  /** As in ReadModel. */
  part: NonNullable<ReadModel['part']>;
  columns: Record<string, ReadModelColumn<R>>;
}

export interface RecordReadModel extends ReadModel {
  path: string;
  /** Ids of the given records that are missing here or differ. */
  differing(db: Queryable, companyId: string, payloads: readonly Buffer[]): Promise<string[]>;
}

export function recordReadModel<R extends { id: string }>({
  topic,
  path,
  table = path,
  version = 1,
  jobColumn,
  part,
  columns,
}: RecordReadModelDefinition<R>): RecordReadModel {
  const { record } = resource(path);
  const decode = (payload: Buffer): R => codec(record.typeName).decode(payload) as R;
  const names = Object.keys(columns);
  const compared = names.filter((name) => columns[name]?.followsNames === undefined);
  const values = (records: readonly R[]): Buffer[] => {
    const own = Object.values(columns).map(({ type, of }) => arrayOf(type, records.map(of)));
    return [binaryArrays.uuid(records.map(({ id }) => id)), ...own];
  };
  const parameters = ['uuid', ...names.map((name) => columns[name]?.type)].map((type, i) => `$${i + 2}::${type}[]`).join(', ');

  const moves = jobColumn !== undefined && jobColumn !== 'id';

  const jobOf = (record: R): string | null => {
    if (jobColumn === undefined) return null;
    return jobColumn === 'id' ? record.id : (columns[jobColumn]?.of(record) as string | null);
  };

  async function jobsOf(tx: Queryable, companyId: string, ids: Buffer): Promise<string[]> {
    if (jobColumn === undefined) return [];
    const text = `select distinct ${jobColumn} as job from ${table} where company_id = $1 and id = any($2::uuid[]) and ${jobColumn} is not null`;
    const { rows } = await tx.query<{ job: string }>({ name: `jobs_of_${table}`, text, values: [companyId, ids] });
    return rows.map(({ job }) => job);
  }

  // The time of the write: its transaction may have begun before a rebuild that has passed the record since.
  const writing = (companyId: string, ids: Buffer, fields: readonly Buffer[]): Statement => ({
    name: `read_model_${table}`,
    text: `insert into ${table} (company_id, projection, copied_at, id, ${names.join(', ')}) select $1, ${version}, clock_timestamp(), * from unnest(${parameters})
      on conflict (company_id, id) do update set copied_at = excluded.copied_at, projection = excluded.projection, ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    values: [companyId, ids, ...fields],
  });

  return {
    topic,
    path,
    table,
    version,
    columns: names,
    part,
    async store(tx, companyId, events) {
      const records: R[] = [];
      const before: Promise<string[]>[] = [];
      const written: Promise<unknown>[] = [];
      for (let start = 0; start < events.length; start += AT_ONCE) {
        // Sends pending statements first.
        if (start > 0) await turn();
        const some = events.slice(start, start + AT_ONCE).map(({ payload }) => decode(payload));
        const [ids, ...rest] = values(some) as [Buffer, ...Buffer[]];
        // A record may have moved to another job: figures of both jobs change.
        if (moves) before.push(handled(jobsOf(tx, companyId, ids)));
        written.push(handled(tx.query(writing(companyId, ids, rest))));
        records.push(...some);
      }
      const jobs = [...new Set(records.flatMap((record) => jobOf(record) ?? []))];
      return { jobs, before: handled(Promise.all(before).then((lists) => lists.flat())), arrived: jobColumn === 'id', written: handled(Promise.all(written)) };
    },
    async remove(tx, companyId, ids) {
      const gone = binaryArrays.uuid(ids);
      const jobs = await jobsOf(tx, companyId, gone);
      await tx.query({ name: `remove_${table}`, text: `delete from ${table} where company_id = $1 and id = any($2::uuid[])`, values: [companyId, gone] });
      return jobs;
    },
    async differing(db, companyId, payloads) {
      const list = (alias: string): string => compared.map((name) => `${alias}.${name}`).join(', ');
      const { rows } = await db.query<{ id: string }>({
        name: `differing_${table}`,
        text: `select o.id from unnest(${parameters}) o(id, ${names.join(', ')})
          left join ${table} c on c.company_id = $1 and c.id = o.id
          where c.id is null or (${list('o')}) is distinct from (${list('c')})`,
        values: [companyId, ...values(payloads.map(decode))],
      });
      return rows.map(({ id }) => id);
    },
  };
}

export function spelling(path: string, field: string): (value: string | null | undefined) => string | null {
  const spellings = resource(path).record.byName.get(field)?.enum?.spellings;
  return (value) => (value == null ? null : (spellings?.get(value) ?? null));
}
