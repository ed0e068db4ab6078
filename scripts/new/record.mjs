// The skeleton of a record: its contract, columns, table, fixed record and first test.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from './changes.mjs';
import { camel, checkName, migrationName, pascal, screaming, singularOf, snake, spaced } from './names.mjs';

/** Adds the record /v1/<path> to its owner. Throws Refusal. Returns what is left to do. */
export function addRecord(changes, root, path, { owner }) {
  checkName(path);
  const known = readdirSync(join(root, 'services')).filter((name) => existsSync(join(root, `services/${name}/src/resources/index.ts`)));
  if (!known.includes(owner)) throw new Refusal(`name the service that owns ${path}: --owner ${known.join('|')}.`);
  const proto = `proto/truckroll/${owner}/v1/${snake(path)}.proto`;
  const service = `services/${owner}`;
  const migrations = `${service}/migrations`;
  changes.create(proto, protoOf(path, owner));
  changes.create(`${service}/src/resources/${path}.ts`, columnsOf(path, owner));
  const index = `${service}/src/resources/index.ts`;
  changes.insertAfter(index, "import { registered } from '@truckroll/record-store';\n", `import { ${camel(path)} } from './${path}.ts';\n`);
  changes.edit(index, (text) => withRegistered(text, owner, path));
  changes.create(`${migrations}/${migrationName(readdirSync(join(root, migrations)), path)}.sql`, tableOf(path));
  changes.create(`test/rollout/records/${path}.ndjson`, `${JSON.stringify(fixedRecord())}\n`);
  const test = `${service}/test/${path}.test.ts`;
  changes.create(test, testOf(path, proto));
  return [
    `Say in ${proto} what ${article(singularOf(path))} is: npm test -- ${test} fails until then.`,
    `Add a column and an index for each filter, and a value for each column to test/rollout/records/${path}.ndjson.`,
    'Run npm run generate && npm run openapi, and go on in CONTRIBUTING.md, "Add a record".',
  ];
}

/** Appends the record to the list in index.ts, in the layout of that list. */
function withRegistered(text, owner, path) {
  const found = new RegExp(`registered\\(\\s*'${owner}',\\s*\\{[^}]*?(?=,?(\\s*)\\})`).exec(text);
  if (found === null) throw new Refusal(`services/${owner}/src/resources/index.ts does not register records as others do: change it by hand.`);
  const [list, space] = found;
  const gap = space.startsWith('\n') ? `${space}  ` : ' ';
  const key = camel(path) === path ? path : `'${path}': ${camel(path)}`;
  return text.replace(list, () => `${list},${gap}${key}`);
}

const article = (singular) => `${/^[aeiou]/.test(singular) ? 'an' : 'a'} ${spaced(singular)}`;
const capital = (text) => text[0].toUpperCase() + text.slice(1);

function fixedRecord() {
  const at = '2026-03-01T15:00:00.000000Z';
  return { id: '0b54ff0e-7a0c-4ec1-9c3f-6d7f7f0e5a01', status: 'ACTIVE', created_at: at, updated_at: at };
}

function protoOf(path, owner) {
  const [one, message, messages] = [singularOf(path), pascal(singularOf(path)), pascal(path)];
  const [a, all] = [article(one), spaced(path)];
  return `syntax = "proto3";

package truckroll.${owner}.v1;

import "google/api/annotations.proto";
import "truckroll/options/v1/options.proto";
import "truckroll/type/v1/type.proto";

// ${capital(all)}.
service ${message}Service {
  option (truckroll.options.v1.callers) = CALLER_GATEWAY;
  // Lists ${all}.
  rpc List${messages}(List${messages}Request) returns (List${messages}Response) {
    option (truckroll.options.v1.rpc_callers) = CALLER_GATEWAY;
    option (truckroll.options.v1.rpc_callers) = CALLER_OPERATOR;
    option (google.api.http) = {get: "/v1/${path}"};
  }
  // Reads one ${spaced(one)}.
  rpc Get${message}(Get${message}Request) returns (Get${message}Response) {
    option (google.api.http) = {get: "/v1/${path}/{id}"};
  }
}

// ${capital(a)}.
message ${message} {
  option (truckroll.options.v1.resource) = {path: "${path}"};
  // Identifier of the ${spaced(one)}.
  string id = 1 [(truckroll.options.v1.format) = FORMAT_UUID];
  // Where the ${spaced(one)} stands.
  ${message}Status status = 2;
  // When the record was made.
  int64 created_at = 3 [(truckroll.options.v1.format) = FORMAT_TIMESTAMP];
  // When the record was last changed.
  int64 updated_at = 4 [(truckroll.options.v1.format) = FORMAT_TIMESTAMP];
}

// Where ${a} stands.
enum ${message}Status {
  // Not set.
  ${screaming(one)}_STATUS_UNSPECIFIED = 0;
  // In use.
  ${screaming(one)}_STATUS_ACTIVE = 1;
  // Kept, and no longer used.
  ${screaming(one)}_STATUS_CLOSED = 2;
}

// Which ${all} to list.
message List${messages}Request {
  // Company, page and common filters.
  truckroll.type.v1.Collection collection = 1;
  // ${capital(all)} with any of these statuses.
  repeated ${message}Status status = 2 [(truckroll.options.v1.filter) = {field: "status"}];
}

// A page of ${all}.
message List${messages}Response {
  // The page, in the list's order.
  repeated ${message} data = 1;
  // Position of the last one; empty on the last page.
  bytes next = 2;
}

// Which ${spaced(one)} to read.
message Get${message}Request {
  // Company and id.
  truckroll.type.v1.Key key = 1;
}

// One ${spaced(one)}.
message Get${message}Response {
  // The ${spaced(one)}.
  ${message} data = 1;
}
`;
}

function columnsOf(path, owner) {
  const message = pascal(singularOf(path));
  return `import { resource } from '@truckroll/contract';
import type { ${message} } from '@truckroll/contract/gen/${owner}/v1/${snake(path)}';
import { defineTable } from '@truckroll/record-store';

export const ${camel(path)} = defineTable<${message}>({ resource: resource('${path}'), table: '${snake(path)}', columns: { status: 'status' } });
`;
}

function tableOf(path) {
  const table = snake(path);
  return `create table ${table} (
  company_id uuid not null,
  id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  status text not null,
  document bytea not null,
  derived bytea,
  primary key (company_id, id)
);
create index ${table}_order on ${table} (company_id, created_at, id);
create index ${table}_updated on ${table} (company_id, updated_at);
create index ${table}_status on ${table} (company_id, status, created_at, id);
select keep_projection('${table}');
select keep_changes('${table}', '${path}');
`;
}

function testOf(path, proto) {
  return `import { resource } from '@truckroll/contract';

/** What every new record has. */
const SKELETON = ['id', 'status', 'created_at', 'updated_at'];

test('${spaced(path)} have fields of their own', () => {
  const own = resource('${path}').record.fields.filter(({ name }) => !SKELETON.includes(name));
  if (own.length === 0) throw new Error('Next: add the fields of the record to ${proto} and run npm run generate.');
});
`;
}
