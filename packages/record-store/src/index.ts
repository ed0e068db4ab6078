export { recordStoreMigrations } from './migrations.ts';
export { defineTable, type AfterChange, type Changed, type Table, type TableDefinition } from './table.ts';
export { NameCache, writeNames, type Name } from './names.ts';
export { RecordReader, rawMethod, type ReadContext } from './read.ts';
export { upsertRecords, writeLinks, type Upserted } from './upsert.ts';
export { importBatch } from './import.ts';
export { serveRecords } from './serve.ts';
export { instantOf, uuidOf } from './position.ts';
export { byCompany, nameSubscription, publishing, recordKey } from './messaging.ts';
