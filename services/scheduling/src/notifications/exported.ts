import type { ExportedTable } from '@truckroll/erasure';

/** Messages to contacts, for an owner who leaves. */
export const exportedNotifications: ExportedTable = {
  table: 'notifications',
  key: { id: 'uuid' },
  columns: [
    ...['id', 'appointment_id', 'job_id', 'account_id', 'contact_id', 'channel', 'address', 'subject', 'message'],
    ...['status', 'attempts', 'created_at', 'attempted_at', 'finished_at', 'detail'],
  ],
  without: {
    company_id: 'the company',
    revision: 'compares the visit before sending',
    due_at: 'state of sending',
    attempt_ends_at: 'state of sending',
    team_member_ids: 'finds the message when one of them is erased',
  },
};
