// What an owner who leaves gets of this service, without secrets (decisions §19).
import { shapeNamed } from '@truckroll/contract';
import type { ExportedTable } from '@truckroll/erasure';

const SENDING = 'state of sending';
const ATTEMPT = [
  ...['number', 'started_at', 'ended_at', 'succeeded', 'status', 'error', 'error_message', 'address', 'request_headers', 'response_headers'],
  'response_truncated',
];

export const exportedTables: readonly ExportedTable[] = [
  {
    table: 'users',
    key: { created_at: 'timestamptz', id: 'uuid' },
    columns: ['id', 'email', 'first_name', 'last_name', 'subject', 'active', 'created_at', 'updated_at'],
    without: { company_id: 'the company' },
  },
  {
    table: 'api_keys',
    key: { created_at: 'timestamptz', id: 'uuid' },
    columns: [
      ...['id', 'user_id', 'created_by_kind', 'name', 'key_prefix', 'key_suffix', 'created_at', 'last_used_at', 'expires_at', 'revoked_at'],
      ...['reads_per_minute', 'reports_per_minute', 'writes_per_minute'],
    ],
    without: { company_id: 'the company', hash: 'secret' },
  },
  {
    table: 'views',
    key: { user_id: 'uuid', name: 'text' },
    columns: ['user_id', 'name', 'query', 'shared', 'saved_at'],
    without: { company_id: 'the company' },
  },
  {
    table: 'webhook_endpoints',
    key: { created_at: 'timestamptz', id: 'uuid' },
    columns: [
      ...['id', 'created_by', 'name', 'url', 'event_types', 'header_names', 'enabled', 'disabled_reason', 'failing_since', 'paused_at', 'stopped_at'],
      ...['max_per_second', 'alert_user_ids', 'created_at', 'updated_at', 'deleted_at', 'expires_at'],
    ],
    values: { filter: 't.filter::json' },
    without: {
      company_id: 'the company',
      ...{ secret: 'secret', previous_secret: 'secret', previous_secret_until: 'of a secret', header_values: 'secret' },
      ...{ slowdowns: SENDING, resume_at: SENDING, resuming: SENDING, circuit_open_until: SENDING, alerted_at: SENDING, alerted_for: SENDING },
    },
  },
  {
    table: 'webhook_event_log',
    key: { day: 'date', occurred_at: 'timestamptz', id: 'uuid' },
    columns: ['id', 'occurred_at', 'type', 'subject', 'sequence', 'subject_number', 'customer_name'],
    values: { event: `select convert_from(e.body, 'UTF8')::json from webhook_events e where e.day = t.day and e.id = t.id` },
    without: { company_id: 'the company', day: 'the date of occurred_at' },
  },
  {
    table: 'webhook_deliveries',
    key: { endpoint_id: 'uuid', day: 'date', id: 'uuid' },
    columns: [
      ...['id', 'endpoint_id', 'event_id', 'event_type', 'subject', 'sequence', 'occurred_at', 'state', 'attempts', 'changed_at', 'redeliveries'],
      ...['subject_number', 'customer_name', 'test'],
    ],
    values: {
      // Bytes that are no ASCII are shown as \ooo: an answer need not be text.
      log: `select coalesce(json_agg(row_to_json(a) order by a.number), '[]')
        from (select ${ATTEMPT.join(', ')}, encode(response_body, 'escape') as response_body from webhook_attempts where day = t.day and delivery_id = t.id) a`,
    },
    without: { company_id: 'the company', day: 'the date of occurred_at' },
  },
  {
    table: 'mails',
    key: { created_at: 'timestamptz', message_id: 'uuid' },
    columns: ['user_id', 'subject', 'body', 'status', 'attempts', 'created_at', 'attempted_at', 'finished_at', 'detail'],
    without: { company_id: 'the company', id: 'a number over all companies', message_id: SENDING, due_at: SENDING, attempt_ends_at: SENDING },
  },
  {
    table: 'audit_events',
    key: { at: 'timestamptz', id: 'uuid' },
    columns: ['id', 'at', 'actor_kind', 'actor_id', 'actor_name', 'action', 'object_kind', 'object_id', 'request_id', 'address'],
    values: { before: 't.before::json', after: 't.after::json' },
    without: { company_id: 'the company' },
  },
  {
    table: 'request_log',
    key: { key_id: 'uuid', last_at: 'timestamptz', id: 'uuid' },
    columns: ['key_id', 'first_at', 'last_at', 'failed', 'count'],
    document: { column: 'requests', shape: shapeNamed('truckroll.integrations.v1.LoggedRequests') },
    without: { company_id: 'the company', id: 'no meaning' },
  },
];

const WRITTEN = ['api_keys', 'views', 'webhook_endpoints'];

/** Tables with texts that the company's users wrote and can change. */
export const writtenTables = exportedTables.filter(({ table }) => WRITTEN.includes(table));
