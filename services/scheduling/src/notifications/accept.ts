// The notification that a write asks for, accepted in the write's transaction (decisions §5).
import type { CustomerNotification } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import { NotificationStatus } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import type { Visit, VisitJob } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { ApiError } from '@truckroll/contract';
import type { Transaction } from '@truckroll/service-kit';

export interface NotificationInput {
  companyId: string;
  /** The visit as it is after the change, its revision included. */
  visit: Visit;
  job: VisitJob;
  /** Null where the write asks for none. */
  request: CustomerNotification | null;
}

/**
 * How the notification stands when the write is answered. Runs before the write's rules, as a contact that is not the
 * account's is a 404; what it stores is rolled back with a write that is refused.
 */
export async function acceptNotification(_tx: Transaction, { request }: NotificationInput): Promise<{ status: NotificationStatus }> {
  if (request === null) return { status: NotificationStatus.NOT_REQUESTED };
  throw ApiError.unavailable(new Error('customer notifications are not built yet'));
}
