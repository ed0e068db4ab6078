// Adds a record as a later release would, only in the places that CONTRIBUTING.md names.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Tree } from './tree.ts';

const PROTO = `syntax = "proto3";

package truckroll.billing.v1;

import "google/api/annotations.proto";
import "google/api/resource.proto";
import "truckroll/options/v1/options.proto";
import "truckroll/type/v1/type.proto";

// Deposits that customers have left.
service DepositService {
  option (truckroll.options.v1.callers) = CALLER_GATEWAY;
  // Lists deposits.
  rpc ListDeposits(ListDepositsRequest) returns (ListDepositsResponse) {
    option (truckroll.options.v1.rpc_callers) = CALLER_GATEWAY;
    option (truckroll.options.v1.rpc_callers) = CALLER_OPERATOR;
    option (google.api.http) = {get: "/v1/deposits"};
  }
  // Reads one deposit.
  rpc GetDeposit(GetDepositRequest) returns (GetDepositResponse) {
    option (google.api.http) = {get: "/v1/deposits/{id}"};
  }
}

// Money that a customer has left before the work.
message Deposit {
  option (truckroll.options.v1.resource) = {path: "deposits"};
  // Identifier of the deposit.
  string id = 1 [(truckroll.options.v1.format) = FORMAT_UUID];
  // Whose it is.
  truckroll.type.v1.Reference account = 2 [(google.api.resource_reference) = {type: "truckroll/accounts"}];
  // Where the deposit stands.
  DepositStatus status = 3;
  // How much was left.
  int64 amount_cents = 4 [(truckroll.options.v1.format) = FORMAT_CENTS];
  // Always USD.
  string currency = 5 [(truckroll.options.v1.format) = FORMAT_CURRENCY];
  // When the record was made.
  int64 created_at = 6 [(truckroll.options.v1.format) = FORMAT_TIMESTAMP];
  // When the record was last changed.
  int64 updated_at = 7 [(truckroll.options.v1.format) = FORMAT_TIMESTAMP];
}

// Where a deposit stands.
enum DepositStatus {
  // Not set.
  DEPOSIT_STATUS_UNSPECIFIED = 0;
  // Left, and not used yet.
  DEPOSIT_STATUS_HELD = 1;
  // Given back.
  DEPOSIT_STATUS_RETURNED = 2;
}

// Which deposits to list.
message ListDepositsRequest {
  // Company, page and common filters.
  truckroll.type.v1.Collection collection = 1;
  // Deposits with any of these statuses.
  repeated DepositStatus status = 2 [(truckroll.options.v1.filter) = {field: "status"}];
}

// A page of deposits.
message ListDepositsResponse {
  // The page, in the list's order.
  repeated Deposit data = 1;
  // Position of the last one; empty on the last page.
  bytes next = 2;
}

// Which deposit to read.
message GetDepositRequest {
  // Company and id.
  truckroll.type.v1.Key key = 1;
}

// One deposit.
message GetDepositResponse {
  // The deposit.
  Deposit data = 1;
}
`;

const COLUMNS = `import { resource } from '@truckroll/contract';
import type { Deposit } from '@truckroll/contract/gen/billing/v1/deposits';
import { defineTable } from '@truckroll/record-store';

export const deposits = defineTable<Deposit>({ resource: resource('deposits'), table: 'deposits', columns: { status: 'status' } });
`;

const TABLE = `create table deposits (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  status text not null,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index deposits_order on deposits (company_id, created_at, id);
create index deposits_updated on deposits (company_id, updated_at);
create index deposits_status on deposits (company_id, status, created_at, id);
select keep_projection('deposits');
`;

/** Adds the record /v1/deposits of billing. */
export function addRecord(tree: Tree): void {
  tree.write('proto/truckroll/billing/v1/deposits.proto', PROTO);
  const resources = 'services/billing/src/resources';
  tree.write(`${resources}/deposits.ts`, COLUMNS);
  tree.replace(`${resources}/index.ts`, 'import { estimates }', "import { deposits } from './deposits.ts';\nimport { estimates }");
  tree.replace(`${resources}/index.ts`, 'refunds, estimates }', 'refunds, estimates, deposits }');
  const migrations = 'services/billing/migrations';
  const number = readdirSync(join(tree.folder, migrations)).length + 1;
  tree.write(`${migrations}/${String(number).padStart(4, '0')}_deposits.sql`, TABLE);
}
