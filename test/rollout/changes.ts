// What a later release adds, as an engineer would: CONTRIBUTING.md says where.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Tree } from './tree.ts';

/** The filter `property_type` of /v1/locations, over a column that the release before does not have. */
export function addFilter(tree: Tree): void {
  tree.replace(
    'proto/truckroll/scheduling/v1/locations.proto',
    '  optional string postal_code = 3 [(truckroll.options.v1.filter) = {field: "address.postal_code"}];\n',
    `  optional string postal_code = 3 [(truckroll.options.v1.filter) = {field: "address.postal_code"}];
  // Locations with exactly this kind of building.
  // Example: Single family
  optional string property_type = 4 [(truckroll.options.v1.filter) = {field: "property_type"}];
`,
  );
  tree.replace(
    'services/scheduling/src/resources/locations.ts',
    "  columns: { address_postal_code: 'address.postal_code' },\n",
    "  version: 2,\n  since: { property_type: 2 },\n  columns: { address_postal_code: 'address.postal_code', property_type: 'property_type' },\n",
  );
  const folder = 'services/scheduling/migrations';
  const number = readdirSync(join(tree.folder, folder)).length + 1;
  tree.write(
    `${folder}/${String(number).padStart(4, '0')}_property_types.sql`,
    `alter table locations add column property_type text;
create index locations_property_type on locations (company_id, property_type, created_at, id) where property_type is not null;
`,
  );
}
