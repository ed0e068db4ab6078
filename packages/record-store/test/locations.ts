import type { Location } from '@truckroll/contract/gen/scheduling/v1/locations';
import type { MigrationSet } from '@truckroll/postgres';

/** A search of locations by name. */
export const search = { table: 'location_entries', of: ({ name }: Location) => ({ texts: [name] }) };

/** A function that fails with the given SQLSTATE. */
export const FAIL = `create function fail(state text) returns void language plpgsql as $$ begin raise exception 'failed' using errcode = state; end $$`;

export function locationTables(more: string): MigrationSet {
  return {
    name: 'own',
    migrations: [
      {
        name: '0001_locations',
        sql: `create table locations (company_id uuid not null, id uuid not null, created_at timestamptz not null, updated_at timestamptz not null,
            address_postal_code text, search text, document bytea not null, derived bytea, primary key (company_id, id));
          create table location_accounts (company_id uuid not null, value uuid not null, created_at timestamptz not null, id uuid not null,
            primary key (company_id, value, created_at, id));
          create table location_entries (company_id uuid not null, value text collate "C" not null, created_at timestamptz not null, id uuid not null,
            primary key (company_id, value, created_at, id));
          ${more};
          select keep_projection('locations')`,
      },
    ],
  };
}
