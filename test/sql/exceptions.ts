// Each statement has a reason not to be bound to a company. The check fails for an entry that is no longer needed.

interface Exception {
  readonly reason: string;
  /** Tables and aliases that are not bound, by statement as in Written.at; `*` where callers name many tables and none is joined. */
  readonly statements: Readonly<Record<string, readonly string[] | '*'>>;
}

export const ACROSS_COMPANIES: readonly Exception[] = [
  {
    reason: 'Finds work of any company. What it returns names the company of each row, and what follows is bound by that.',
    statements: {
      'packages/erasure/src/people.ts people_to_erase': ['erased_people'],
      'packages/mail/src/queue.ts notifications_waiting': '*',
      'packages/record-store/src/projection.ts behind_unknown_table_table': '*',
      'packages/record-store/src/projection.ts projections_behind': '*',
      'packages/record-store/src/publication.ts next_to_publish_unknown_table_table': ['unknown_table_table'],
      'packages/record-store/src/publication.ts take_unpublished': ['unpublished', 'unpublished (2)'],
      'services/integrations/src/mails/store.ts take_mails': ['mails m'],
      'services/integrations/src/request-log/store.ts next_key_of_request_log': ['request_log'],
      'services/integrations/src/webhooks/health/count-store.ts take_webhook_counts': ['webhook_counts c'],
      'services/integrations/src/webhooks/queue/skip.ts next_overdue_pause': ['webhook_endpoints e'],
      'services/integrations/src/webhooks/queue/recover.ts next_webhook_recovery': ['webhook_endpoints e'],
      'services/integrations/src/webhooks/queue/recover.ts send_resumed_webhooks': ['webhook_endpoints e'],
      'services/integrations/src/webhooks/queue/replay.ts next_webhook_replay': ['webhook_endpoints e'],
      'services/reporting/src/read-models/rebuild.ts removeOlderThan': '*',
      'services/reporting/src/jobs/after-settings.ts companies_to_refresh': ['financials_to_refresh'],
      'services/reporting/src/sums/task.ts begin_sums': ['companies c'],
      'services/reporting/src/sums/task.ts forget_unknown_companies': ['summed s', 'due_notes n'],
      'services/reporting/src/sums/task.ts sums_due': ['summed s'],
      'services/reporting/src/sums/rebuild.ts rebuildSums': '*',
      'services/scheduling/src/notifications/store.ts due_notifications': ['notifications n'],
    },
  },
  {
    reason: 'Notes how far a run over all companies has come: its company_id is a cursor, not an owner.',
    statements: {
      'packages/catch-up/src/runs.ts add_catch_up_runs': ['catch_up'],
      'packages/catch-up/src/runs.ts beginAgain': ['catch_up'],
      'packages/catch-up/src/runs.ts catch_up_at': ['catch_up'],
      'packages/catch-up/src/runs.ts catch_up_ends': ['catch_up'],
      'packages/catch-up/src/runs.ts catch_up_incomplete': ['catch_up c'],
      'packages/catch-up/src/runs.ts catch_up_proceeds': ['catch_up'],
      'packages/catch-up/src/runs.ts catch_up_runs': ['catch_up'],
      'packages/catch-up/src/runs.ts restartRuns': ['catch_up'],
      'packages/catch-up/src/runs.ts runsIn': ['catch_up'],
      'packages/change-feed/src/backfill.ts logNext': '*',
      'packages/change-feed/src/move.ts feedInPreparation': ['catch_up'],
      'packages/record-store/src/publication.ts paths_unpublished': ['unpublished'],
      'packages/record-store/src/publication.ts publication_complete': ['catch_up', 'unpublished'],
    },
  },
  {
    reason: 'Finds companies whose log of changes has grown; each is compacted alone.',
    statements: { 'packages/change-feed/src/compaction.ts compactor': ['record_changes', 'record_changes (2)', 'record_changes r'] },
  },
  {
    reason: 'The table companies has one row for each company; the outer statement selects the one.',
    statements: {
      'packages/change-feed/src/read.ts versions_of_unknown_kind': ['companies'],
      'packages/erasure/src/export.ts recordsOf': ['companies'],
    },
  },
  {
    reason: 'Publishes the events of all companies in the order in which they were appended.',
    statements: {
      'packages/outbox/src/relay.ts #measure': ['outbox'],
      'packages/outbox/src/read-batch.ts outbox_read': ['outbox'],
      'packages/outbox/src/relay.ts outbox_delete': ['outbox'],
      'packages/outbox/src/relay.ts outbox_highest': ['outbox'],
      'packages/record-store/src/publication.ts outbox_waiting': ['outbox'],
    },
  },
  {
    reason: 'Counts over all companies, for progress and metrics.',
    statements: {
      'packages/record-store/src/projection.ts countBehind': '*',
      'packages/record-store/src/publication.ts about': ['unknown_table'],
      'services/integrations/src/companies/slots.ts slots_of_moves': ['moves m'],
      'services/integrations/src/webhooks/health/metrics.ts count_webhook_endpoints': ['webhook_endpoints'],
      'services/integrations/src/webhooks/health/metrics.ts measure_webhook_queue': ['webhook_endpoints e'],
      'services/reporting/src/freshness/metrics.ts companies_being_summed': ['summed'],
      'services/reporting/src/freshness/metrics.ts oldest_note': ['due_notes'],
    },
  },
  {
    reason: 'Deletes or ends what is too old, of any company.',
    statements: {
      'packages/mail/src/queue.ts forget_notifications': '*',
      'packages/mail/src/queue.ts give_up_notifications': '*',
      'services/integrations/src/audit/store.ts purge_audit_events': ['audit_events', 'audit_events (2)'],
      'services/integrations/src/keys/store.ts purge_revoked_keys': ['api_keys', 'api_keys (2)'],
      'services/integrations/src/mails/store.ts suppress_mails': ['mails m', 'users u'],
      'services/integrations/src/webhooks/endpoints/expiry.ts select_expired_webhooks': ['webhook_endpoints'],
      'services/scheduling/src/assignments/idempotency.ts purge_idempotency_keys': ['idempotency_keys', 'idempotency_keys (2)'],
    },
  },
  {
    reason: 'Runs once after the database was restored, over all companies.',
    statements: {
      'tools/cli/src/restored/outdated.ts keysOf': ['names'],
      'tools/cli/src/restored/outdated.ts takeWaiting': ['outbox'],
      'services/integrations/src/restored.ts fannedOut': ['webhook_events e'],
      'services/integrations/src/restored.ts giveUpMails': ['mails'],
      'services/integrations/src/restored.ts maySendTwice': ['webhook_deliveries d', 'webhook_endpoints'],
      'services/integrations/src/companies/leave.ts erasuresIn': ['audit_events'],
      'services/scheduling/src/restored.ts giveUpMessages': ['notifications'],
      'services/scheduling/src/restored.ts publishNames': ['names'],
    },
  },
  {
    reason: 'Moves one company: the column with its id is found in the catalog, and the rows that are copied are of that company.',
    statements: {
      // Subjects are unique in a cell, whatever the company.
      'tools/cli/src/moving/check.ts problemsOfUsers': ['users'],
      'tools/cli/src/moving/compare.ts addMissingEntries': ['audit_events'],
      'tools/cli/src/moving/compare.ts digestsOf': ['unknown_name'],
      'tools/cli/src/moving/copy.ts copyRows': ['unknown_table_name'],
      'tools/cli/src/moving/remove.ts removeSome': ['unknown_name', 'unknown_name (2)'],
      'tools/cli/src/moving/switch.ts copyNotes': ['due_notes'],
      'tools/cli/src/moving/tables.ts hasCompany': ['companies'],
      'tools/cli/src/moving/tables.ts sizeOf': ['unknown_name t'],
      'tools/cli/src/moving/tables.ts tablesWith': ['unknown_name'],
    },
  },
  {
    reason: 'Its conditions are rules of the deletion of a company, each of which names the company (test/leaving/tables.test.ts).',
    statements: {
      'packages/erasure/src/remove.ts anyRow': ['unknown_only'],
      'packages/erasure/src/remove.ts removal': ['unknown_only', 'unknown_only (2)', 'unknown_table o'],
      'packages/erasure/src/tables.ts countRows': ['unknown_only'],
    },
  },
  {
    reason: 'A user who is erased may have been in any company, and neither sees the other.',
    statements: {
      'services/integrations/src/audit/erase-person.ts audit_events_with_person': ['audit_events'],
      'services/integrations/src/audit/erase-person.ts email_of_user_to_erase': ['users'],
      'services/integrations/src/audit/erase-person.ts erased_users_among': ['erased_people'],
      'services/integrations/src/audit/erase-person.ts page_of_audit_events_to_erase_from': ['audit_events'],
    },
  },
  {
    reason: 'Leaves users of a deleted company to the other company whose endpoints they made.',
    statements: { 'services/integrations/src/companies/leave.ts leave_makers_of_endpoints': ['webhook_endpoints'] },
  },
  {
    reason: 'The operator reads all companies, or names a key or a user by its id alone.',
    statements: {
      'services/integrations/src/audit/store.ts audit_actor_id': ['audit_events'],
      'services/integrations/src/companies/places.ts company_places': ['company_places p'],
      'services/integrations/src/companies/places.ts moving_companies': ['moves'],
      'services/integrations/src/companies/store.ts select_companies': ['frozen_companies f'],
      'services/integrations/src/identity/pending.ts forget_key': ['api_keys'],
      'services/integrations/src/keys/store.ts lock_key': ['api_keys k', 'users u'],
      'services/integrations/src/keys/store.ts replace_key_value': ['api_keys'],
      'services/integrations/src/keys/store.ts revoke_key': ['api_keys', 'users u'],
      'services/integrations/src/users/erase.ts erase_mails_to_user': ['mails'],
      'services/integrations/src/users/erase.ts erase_user': ['users u'],
      'services/integrations/src/users/erase.ts sending_mails_to_user': ['mails'],
      'services/integrations/src/users/store.ts lock_user': ['users'],
      'services/integrations/src/users/store.ts update_user': ['users'],
      'services/integrations/src/webhooks/health/alerts.ts webhooks_to_alert': ['webhook_endpoints e'],
      'services/integrations/src/webhooks/endpoint-admin.ts describe_webhooks': ['webhook_endpoints e'],
      'services/integrations/src/webhooks/health/read.ts select_webhook_health_inputs': ['webhook_endpoints e'],
    },
  },
  {
    reason: 'Shows who made or did something: a user who may have moved to another company since.',
    statements: {
      'services/integrations/src/audit/store.ts insert_audit_events': ['users u', 'erased_people p'],
      'services/integrations/src/keys/public.ts select_api_keys': ['users u'],
      'services/integrations/src/keys/store.ts insert_key': ['users u'],
      'services/integrations/src/keys/store.ts select_keys': ['users u'],
      'services/integrations/src/webhooks/endpoints/store.ts select_webhooks': ['users u'],
    },
  },
  {
    reason: 'Finds the company of a key by its hash.',
    statements: {
      'services/integrations/src/identity/authenticate.ts authenticate_key': ['api_keys k'],
      'services/integrations/src/identity/authenticate.ts company_of_key_is_here': ['api_keys k'],
    },
  },
  {
    reason: 'Continues a delivery or an e-mail that was leased to a worker for all companies, by the id in its lease.',
    statements: {
      'services/integrations/src/mails/store.ts finish_mail': ['mails'],
      'services/integrations/src/mails/store.ts postpone_mail': ['mails'],
      'services/integrations/src/webhooks/queue/report.ts find_reported_deliveries': ['webhook_deliveries d'],
      'services/integrations/src/webhooks/log/answers.ts budgets_of_answers': ['webhook_deliveries d'],
      'services/integrations/src/webhooks/queue/report.ts insert_webhook_attempts': ['webhook_deliveries d'],
      'services/integrations/src/webhooks/queue/report.ts settle_webhook_deliveries': ['webhook_deliveries d'],
    },
  },
  {
    reason: 'Reads which companies are frozen, or opens all of them after a restore.',
    statements: {
      'packages/outbox/src/dead-letters.ts dead_letters_after': ['frozen_companies f'],
      'packages/postgres/src/frozen.ts openFrozen': ['frozen_companies'],
      'services/integrations/src/webhooks/log/partitions.ts drop': ['frozen_companies'],
    },
  },
  {
    reason: 'The queue of webhooks names endpoints and deliveries, which lead to the company.',
    statements: {
      'services/integrations/src/webhooks/queue/lease.ts end_webhook_leases': ['frozen_companies f'],
      'services/integrations/src/webhooks/queue/lease.ts free_expired_leases': ['webhook_endpoints e'],
      'services/integrations/src/webhooks/queue/lease.ts lease_webhook_deliveries': [
        'webhook_endpoints e',
        'webhook_endpoints e (2)',
        'webhook_endpoints e (3)',
        'webhook_deliveries',
      ],
      'services/integrations/src/webhooks/queue/lease.ts next_webhook_due': ['webhook_endpoints', 'webhook_endpoints e'],
    },
  },
];

/**
 * Tables of which a row is found by its endpoint or delivery, which leads to the company. Their company_id is for publications (docs/adr/0025): it
 * begins no index, and attempts of earlier releases lack it.
 */
export const FOUND_BY_PARENT: readonly string[] = ['webhook_queue', 'webhook_attempts', 'webhook_recoveries', 'webhook_replays'];

/** Statements whose text is not in the sources, each with its reason. */
export const NOT_READ: Readonly<Record<string, string>> = {
  'packages/erasure/src/freeze.ts fence': 'makes a trigger, which names the company',
  'packages/outbox/src/erased.ts acceptMoved': 'names a schema, and the company',
  'packages/outbox/src/erased.ts refuseMoved': 'names a schema, and the company',
  'packages/postgres/src/migrate.ts apply': 'runs migrations, which make the tables',
  'packages/postgres/src/migration-steps.ts runSteps': 'runs migrations, which make the tables',
  'packages/change-feed/src/move.ts chooseShift': 'names a schema, and the company',
  'packages/change-feed/src/move.ts feedInPreparation': 'names a schema, and no company',
  'packages/change-feed/src/move.ts stateOf': 'names a schema, and the company',
  'packages/postgres/src/replication.ts createSlot': 'a command of the replication protocol',
  'tools/cli/src/moving/cells.ts openServices': 'names a schema, and the company',
  'tools/cli/src/moving/copy.ts batchesOf': 'makes a cursor, which names the company',
  'tools/cli/src/moving/feed.ts feedLeaves': 'names a schema, and the company',
  'tools/cli/src/moving/switch.ts carryingOver': 'names tables, and the company in each',
};
