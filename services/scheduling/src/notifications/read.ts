// What became of a customer notification (decisions §17).
import { ApiError } from '@truckroll/contract';
import { NotificationStatus } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import { MessageChannel, type NotificationServiceService } from '@truckroll/contract/gen/scheduling/v1/notifications';
import type { Handlers } from '@truckroll/grpc';
import type { Database } from '@truckroll/postgres';
import type { NotificationChannel } from './recipient.ts';

interface Row {
  status: 'QUEUED' | 'ATTEMPTING' | 'SENT' | 'FAILED' | 'UNKNOWN' | 'SUPPRESSED';
  channel: NotificationChannel | null;
  detail: string | null;
  created_at: number;
  finished_at: number | null;
}

/** The provider's refusal begins with its status: an SMTP reply, or that of HTTP. */
const REFUSED = /^(?:HTTP )?[45]\d\d\b/;
const OF_ADDRESS = /^(?:this is not one e-mail address|the server cannot take this address)/;

/** Why it was not sent. Otherwise `detail` is for operators: it may name their servers. */
function reasonOf(status: Row['status'], detail: string): string | null {
  if (status === 'SUPPRESSED') return detail;
  if (status !== 'FAILED') return null;
  const refused = REFUSED.exec(detail)?.[0];
  if (refused !== undefined) return `the provider refused it: ${refused}`;
  return OF_ADDRESS.test(detail) ? detail : 'no provider could be reached';
}

/** The handler of NotificationService. Errors: 404. */
export function notificationHandlers(database: Database): Handlers<typeof NotificationServiceService> {
  return {
    async getNotification({ key }) {
      if (key == null) throw ApiError.internal(new Error('a request for a notification has no key'));
      const { rows } = await database.of(key.company_id).query<Row>({
        name: 'notification',
        text: 'select status, channel, detail, created_at, finished_at from notifications where company_id = $1 and id = $2',
        values: [key.company_id, key.id],
      });
      const [row] = rows;
      if (row === undefined) throw ApiError.notFound('notification');
      const { status, channel, detail, created_at, finished_at } = row;
      return {
        data: {
          id: key.id,
          status: NotificationStatus[status === 'ATTEMPTING' ? 'QUEUED' : status],
          channel: channel && MessageChannel[channel],
          reason: reasonOf(status, detail ?? ''),
          created_at,
          finished_at,
        },
      };
    },
  };
}
