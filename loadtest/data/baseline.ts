// Recreates the baseline's schema and fills it with a company's records by COPY.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { ROWS } from './baseline-rows.ts';
import type { BenchmarkCompany } from './companies.ts';
import { copyRows } from './copy.ts';

const SCHEMA = join(import.meta.dirname, '../baseline/schema.sql');
const BATCH = 5000;

export async function createBaseline(client: pg.ClientBase): Promise<void> {
  await client.query(`begin; drop schema if exists baseline cascade; ${readFileSync(SCHEMA, 'utf8')}; commit`);
}

export async function loadBaseline(client: pg.ClientBase, company: BenchmarkCompany, onRecords: (count: number) => void): Promise<void> {
  await client.query('insert into baseline.companies values ($1, $2)', [company.id, company.timezone]);
  for (const { path, records } of company.files) {
    for (const batch of batches(records, BATCH)) {
      for (const { table, columns, rowsOf } of ROWS[path] ?? []) {
        const rows = batch.flatMap((record) => rowsOf(record).map((row) => [company.id, ...row]));
        await copyRows(client, `baseline.${table}`, ['company_id', ...columns], rows);
      }
      onRecords(batch.length);
    }
  }
}

export function* batches<T>(records: Iterable<T>, size: number): Generator<T[]> {
  let batch: T[] = [];
  for (const record of records) {
    batch.push(record);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
