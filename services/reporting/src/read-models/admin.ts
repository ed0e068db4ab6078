import { ApiError } from '@truckroll/contract';
import type { ReportingAdminServiceService } from '@truckroll/contract/gen/reporting/v1/admin';
import type { Handlers } from '@truckroll/grpc';
import type { KafkaClient } from '@truckroll/outbox';
import type { Database } from '@truckroll/postgres';
import { streamOf } from '@truckroll/process';
import { readModels, recordReadModels } from './index.ts';
import type { RecordReadModel } from './record-read-model.ts';
import { rebuildSums } from '../sums/rebuild.ts';
import { verifyReports } from '../sums/verify.ts';
import { rebuildAll } from './rebuild.ts';

const PAGE = 10_000;

interface ReadModelAdminOptions {
  readonly database: Database;
  readonly kafka: KafkaClient;
  readonly group: string;
  /** Called when days are due, so that they are summed. */
  readonly begun: () => void;
}

/** The rpcs of operators and of `truckroll verify`. A path that has no read model is answered with 400. */
export function readModelAdmin({ database, kafka, group, begun }: ReadModelAdminOptions) {
  return {
    rebuild: (_, { signal }) =>
      streamOf(async (emit) => {
        await rebuildAll(readModels, { database, kafka, group, signal }, emit);
        await rebuildSums({ database, begun, signal }, emit);
      }),

    verifyReports: ({ company_id }, { signal }) => verifyReports(database, company_id, signal),

    async compareCopies({ company_id, path, records }) {
      const payloads = records.map((record) => Buffer.from(record));
      return { differing_ids: await readModelOf(path).differing(database, company_id, payloads) };
    },

    async listCopyIds({ company_id, path, after }) {
      const { table } = readModelOf(path);
      const { rows } = await database.query<{ id: string }>({
        text: `select id from ${table} where company_id = $1 and ($2::uuid is null or id > $2) order by id limit ${PAGE}`,
        values: [company_id, after === '' ? null : after],
      });
      return { ids: rows.map(({ id }) => id) };
    },
  } satisfies Handlers<typeof ReportingAdminServiceService>;
}

function readModelOf(path: string): RecordReadModel {
  const found = recordReadModels.find((model) => model.path === path);
  if (found !== undefined) return found;
  const message = `Reporting keeps read models of ${recordReadModels.map((model) => model.path).join(', ')}.`;
  throw ApiError.invalid([{ location: 'body', field: 'path', code: 'INVALID_ENUM_VALUE', message }]);
}
