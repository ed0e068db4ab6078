// Additions of a later release, in the places that CONTRIBUTING.md names.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Tree } from './tree.ts';

/** Adds the filter `property_type` to /v1/locations, over a column that the previous release lacks. */
export function addFilter(tree: Tree): void {
  tree.replace(
    'proto/truckroll/scheduling/v1/locations.proto',
    '    (truckroll.options.v1.filter) = {comparison: COMPARISON_SEARCH}\n  ];\n',
    `    (truckroll.options.v1.filter) = {comparison: COMPARISON_SEARCH}
  ];
  // Locations with exactly this kind of building. Example: Single family
  optional string property_type = 5 [(truckroll.options.v1.filter) = {field: "property_type"}];
`,
  );
  tree.replace(
    'services/scheduling/src/resources/locations.ts',
    "  version: 2,\n  since: { search: 2 },\n  columns: { address_postal_code: 'address.postal_code' },\n",
    "  version: 3,\n  since: { search: 2, property_type: 3 },\n  columns: { address_postal_code: 'address.postal_code', property_type: 'property_type' },\n",
  );
  addMigration(
    tree,
    'scheduling',
    'property_types',
    `alter table locations add column property_type text;
create index locations_property_type on locations (company_id, property_type, created_at, id) where property_type is not null;
`,
  );
}

/** Adds the group `location` to the invoice report, over a read-model column that the previous release lacks. */
export function addDimension(tree: Tree): void {
  tree.replace(
    'proto/truckroll/reporting/v1/report_types.proto',
    '  SUMMARY_DIMENSION_COLLECTOR = 6;\n',
    '  SUMMARY_DIMENSION_COLLECTOR = 6;\n  // Where the work was done.\n  SUMMARY_DIMENSION_LOCATION = 7;\n',
  );
  tree.replace(
    'proto/truckroll/reporting/v1/invoice_activity_report.proto',
    '  INVOICE_ACTIVITY_GROUP_BY_JOB_CLASS = 4;\n',
    "  INVOICE_ACTIVITY_GROUP_BY_JOB_CLASS = 4;\n  // By the invoice's location.\n  INVOICE_ACTIVITY_GROUP_BY_LOCATION = 5;\n",
  );
  const source = 'services/reporting/src';
  tree.replace(`${source}/read-models/invoices.ts`, "  part: 'jobs',\n", "  part: 'jobs',\n  version: 2,\n");
  tree.replace(
    `${source}/read-models/invoices.ts`,
    "    account_id: { type: 'uuid',",
    "    location_id: { type: 'uuid', of: ({ location_id }) => location_id ?? null },\n    account_id: { type: 'uuid',",
  );
  addMigration(tree, 'reporting', 'locations_of_invoices', 'alter table invoices add column location_id uuid;\n');
  const definitions = `${source}/facts/definitions.ts`;
  tree.replace(definitions, 'issued_at as at, status as standing,', 'issued_at as at, status as standing, location_id as location,');
  tree.replace(definitions, 'SUMMARIES_VERSION = 1', 'SUMMARIES_VERSION = 2');
  tree.replace(
    definitions,
    "  dimensions: ['account', 'business_unit', 'job_type', 'job_class'],\n",
    "  dimensions: ['account', 'business_unit', 'job_type', 'job_class', 'location'],\n  since: { location: { version: 2, rows: { invoices: 2 } } },\n",
  );
  tree.replace(`${source}/reports/labels.ts`, "  account: 'accounts',\n", "  account: 'accounts',\n  location: 'locations',\n");
}

function addMigration(tree: Tree, service: string, name: string, sql: string): void {
  const folder = `services/${service}/migrations`;
  const number = readdirSync(join(tree.folder, folder)).length + 1;
  tree.write(`${folder}/${String(number).padStart(4, '0')}_${name}.sql`, sql);
}

export const ADDED_TYPE = 'service_request.contacted';

/** Adds the event service_request.contacted, published after its status change, and the field `waited_seconds` to that change's event. */
export function addEventType(tree: Tree): void {
  tree.replace(
    'proto/truckroll/events/v1/public_events.proto',
    '  ChangedServiceRequest data = 6;\n}\n',
    `  ChangedServiceRequest data = 6;
  // Whole seconds that the customer had waited when first contacted.
  optional int64 waited_seconds = 7;
}

// The customer was contacted for the first time. Follows the service_request.status_changed of the same change.
message ServiceRequestContacted {
  option (truckroll.options.v1.event_type) = "${ADDED_TYPE}";
  // Identifier of the event.
  string id = 1 [(truckroll.options.v1.format) = FORMAT_UUID];
  // Event type. Example: ${ADDED_TYPE}
  string type = 2;
  // When it happened.
  int64 timestamp = 3 [(truckroll.options.v1.format) = FORMAT_TIMESTAMP];
  // The company that it belongs to.
  string company_id = 4 [(truckroll.options.v1.format) = FORMAT_UUID];
  // Number of the event within its service request.
  int64 sequence = 5 [(truckroll.options.v1.range) = {min: 1}];
  // The service request as of this event.
  truckroll.scheduling.v1.ServiceRequest data = 6;
}
`,
  );
  const events = 'services/scheduling/src/intake/events.ts';
  tree.replace(events, '  ServiceRequestBooked,\n', '  ServiceRequestBooked,\n  ServiceRequestContacted,\n');
  tree.replace(events, "{ type: 'service_request.booked'; data", `{ type: 'service_request.booked' | '${ADDED_TYPE}'; data`);
  tree.replace(
    events,
    "    case 'service_request.status_changed':\n      return ServiceRequestStatusChanged.encode({ ...envelope,",
    `    case '${ADDED_TYPE}':
      return ServiceRequestContacted.encode({ ...envelope, data }).finish();
    case 'service_request.status_changed':
      return ServiceRequestStatusChanged.encode({
        ...envelope, waited_seconds: data.status === 'SERVICE_REQUEST_STATUS_CONTACTED' ? Math.floor((envelope.timestamp - data.created_at) / 1e6) : undefined,`,
  );
  tree.replace(
    'services/scheduling/src/intake/move.ts',
    "[{ type: 'service_request.status_changed', data, previous: request.status }]",
    `[
      { type: 'service_request.status_changed', data, previous: request.status },
      ...(status === Status.CONTACTED ? [{ type: '${ADDED_TYPE}', data } as const] : []),
    ]`,
  );
}
