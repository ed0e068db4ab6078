// Adds a record as a later release would, only in the places that CONTRIBUTING.md names.
import { Changes } from '../../scripts/new/changes.mjs';
import { addRecord as addSkeleton } from '../../scripts/new/record.mjs';
import type { Tree } from './tree.ts';

const FIELDS = `  // The customer.
  truckroll.type.v1.Reference account = 5 [(google.api.resource_reference) = {type: "truckroll/accounts"}];
  // How much was left.
  int64 amount_cents = 6 [(truckroll.options.v1.format) = FORMAT_CENTS];
  // Always USD.
  string currency = 7 [(truckroll.options.v1.format) = FORMAT_CURRENCY];
`;

export function addRecord(tree: Tree): void {
  const changes = new Changes(tree.folder);
  const proto = 'proto/truckroll/billing/v1/deposits.proto';
  addSkeleton(changes, tree.folder, 'deposits', { owner: 'billing' });
  changes.insertBefore(proto, 'import "truckroll/options/v1/options.proto";', 'import "google/api/resource.proto";\n');
  changes.insertBefore(proto, '}\n\n// Where a deposit stands.', FIELDS);
  changes.write();
}
