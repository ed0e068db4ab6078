// A scheduling service with its own database, called like the gateway and the command line call it.
import { randomUUID } from 'node:crypto';
import { codec, resource } from '@truckroll/contract';
import { RecordCheckServiceService } from '@truckroll/contract/gen/records/v1/record_checks';
import { ImportServiceService, type ImportResponse } from '@truckroll/contract/gen/records/v1/records';
import { openChannel } from '@truckroll/grpc';
import { Database } from '@truckroll/postgres';
import { freshDatabase, testCallers, testConfig, withoutKafka } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import type { SchedulingConfig } from '../src/config.ts';
import { createScheduling } from '../src/scheduling.ts';
import { schema } from '../src/schema.ts';

export type Json = Record<string, any>;
const TIME_ZONE = 'America/Chicago';

/** Repeats a read until it returns what is expected, for at most the 2 s within which names must be current everywhere (issue 4). */
export async function soon<T>(look: () => Promise<T>, expected: T): Promise<void> {
  await until('current names', look, (seen) => JSON.stringify(seen) === JSON.stringify(expected), { atMostMs: 2000, everyMs: 10 });
}

/** Without providers, notifications fail. */
export async function startHarness(config: Partial<SchedulingConfig> = {}) {
  const fresh = await freshDatabase({ [schema.schema]: schema.migrations });
  const service = createScheduling({ ...testConfig, ...withoutKafka, ...config, databaseUrl: fresh.url });
  const { port } = await service.start();
  const channel = openChannel(`127.0.0.1:${port}`, { credentials: testCallers });
  const database = new Database({ url: fresh.url, schema: 'scheduling', maxConnections: 2 });

  return {
    database,
    channel,
    metrics: service.metrics,
    company: () => companyOf(channel, randomUUID()),
    async stop() {
      channel.close();
      await database.close();
      await service.destroy();
      await fresh.drop();
    },
  };
}

export type Harness = Awaited<ReturnType<typeof startHarness>>;
export type Company = ReturnType<typeof companyOf>;

function companyOf(channel: ReturnType<typeof openChannel>, id: string) {
  const importer = channel.client(ImportServiceService);

  async function importLines(path: string, records: readonly Json[]): Promise<ImportResponse> {
    const lines = records.map((record) => Buffer.from(JSON.stringify(record)));
    const requests = async function* () {
      yield { company_id: id, path, lines, first_line: 1 };
    };
    for await (const answer of importer.import(requests())) return answer;
    throw new Error('no answer');
  }

  async function call(rpc: string, request: string, response: string, fields: Json): Promise<Json> {
    const { encode } = codec(request);
    const empty = codec(request).decode(new Uint8Array()) as Json;
    return codec(response).decode(await channel.call(rpc, Buffer.from(encode({ ...empty, ...fields }).finish()))) as Json;
  }

  async function page(path: string, { ids = [], after = new Uint8Array(), ...own }: Json = {}): Promise<{ data: Json[]; next: Uint8Array }> {
    const { list } = resource(path);
    const collection = { company_id: id, time_zone: TIME_ZONE, limit: 100, after, ids };
    return (await call(list.rpc, list.request.typeName, list.response.typeName, { collection, ...own })) as { data: Json[]; next: Uint8Array };
  }

  return {
    id,
    importLines,

    async store(path: string, ...records: Json[]): Promise<void> {
      const { problems } = await importLines(path, records);
      if (problems.length > 0) throw new Error(JSON.stringify(problems.slice(0, 5)));
    },

    page,

    list: async (path: string, filters: Json = {}): Promise<Json[]> => (await page(path, filters)).data,

    /** The number of the company's records, and `path/id field CODE` for each current rule that one breaks. */
    async checked(): Promise<{ count: number; broken: string[] }> {
      const broken: string[] = [];
      let count = 0;
      for await (const page of channel.client(RecordCheckServiceService).checkRecords({ company_id: id })) {
        count += page.checked;
        broken.push(...page.broken.map((rule) => `${page.path}/${rule.id} ${rule.field} ${rule.code}`));
      }
      return { count, broken };
    },

    async detail(path: string, recordId: string): Promise<any> {
      const { detail } = resource(path);
      const key = { company_id: id, time_zone: TIME_ZONE, id: recordId };
      return (await call(detail.rpc, detail.request.typeName, detail.response.typeName, { key }))['data'];
    },
  };
}
