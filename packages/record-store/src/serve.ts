import { ApiError } from '@truckroll/contract';
import { RecordCheckServiceService } from '@truckroll/contract/gen/records/v1/record_checks';
import { RecordReadServiceService } from '@truckroll/contract/gen/records/v1/record_reads';
import { ImportServiceService, type CheckImportRequest, type ImportRequest } from '@truckroll/contract/gen/records/v1/records';
import type { GrpcServer } from '@truckroll/grpc';
import { checkStored } from './check-stored.ts';
import { importBatch, readBatch, storeBatch } from './import.ts';
import type { ListRequest } from './list-request.ts';
import { RecordReader, rawMethod, type Key, type ReaderOptions } from './read.ts';
import { readAhead } from './read-ahead.ts';
import { statisticsKeeper } from './statistics.ts';
import type { Table } from './table.ts';

export interface RecordServices extends ReaderOptions {
  /** Called after each stored batch: the outbox relay's poke. */
  afterImport?: () => void;
}

const MOST_KEYS = 100;
const REFUSED_BATCH = `Give the public path of records that this service owns, and at most ${MOST_KEYS} keys.`;

/** Implements everything that the owner of these tables serves for its records: lists, details, reads by id, imports and checks. Call before `listen`. */
export function serveRecords(server: GrpcServer, tables: readonly Table[], services: RecordServices): void {
  const readers = new Map<string, RecordReader>();
  for (const table of tables) {
    const reader = new RecordReader(table, services);
    readers.set(table.path, reader);
    const { list, detail } = table.resource;
    server.implement(
      { list: rawMethod(list), detail: rawMethod(detail) },
      {
        list: (request: unknown, context) => reader.list(request as ListRequest, context),
        detail: (request: unknown) => reader.detail((request as { key: Key }).key),
      },
    );
  }
  server.implement(RecordReadServiceService, {
    batchGetRecords: ({ path, keys }) => {
      const reader = readers.get(path);
      if (reader === undefined || keys.length > MOST_KEYS)
        throw ApiError.invalid([{ location: 'body', field: reader === undefined ? 'path' : 'keys', code: 'OUT_OF_RANGE', message: REFUSED_BATCH }]);
      return reader.details(keys);
    },
  });
  const keepStatistics = statisticsKeeper(services.database, tables);
  server.implement(ImportServiceService, {
    import: async function* (requests: AsyncIterable<ImportRequest>, context) {
      for await (const { value: batch, readNext } of readAhead(requests, (request) => readBatch(tables, request, context))) {
        yield await storeBatch(services.database, batch, { whileWaiting: readNext });
        services.afterImport?.();
        keepStatistics();
      }
    },
    checkImport: async function* (requests: AsyncIterable<CheckImportRequest>, context) {
      for await (const { batch } of requests) {
        if (batch != null) yield { outcome: await importBatch(services.database, tables, batch, context, 'undo') };
      }
    },
  });
  server.implement(RecordCheckServiceService, {
    checkRecords: ({ company_id: companyId }) => checkStored(services.database.of(companyId), tables, companyId),
  });
}
