import { InteractionChannel, InteractionDirection, InteractionStatus } from '@truckroll/contract/gen/scheduling/v1/interactions';
import type { Transaction } from '@truckroll/postgres';
import { insertInteraction } from '../intake/interactions.ts';
import type { LeasedNotification } from './store.ts';

const CHANNELS = { EMAIL: InteractionChannel.EMAIL, SMS: InteractionChannel.SMS } as const;

/** A sent notification is a completed outbound interaction (decisions §6). Times in microseconds. */
export async function recordSent(tx: Transaction, lease: LeasedNotification, started_at: number, ended_at: number): Promise<void> {
  const { companyId, id, channel, account, contact, jobId, text, people } = lease;
  await insertInteraction(
    tx,
    companyId,
    {
      id,
      channel: CHANNELS[channel],
      direction: InteractionDirection.OUTBOUND,
      status: InteractionStatus.COMPLETED,
      account,
      contact,
      started_at,
      ended_at,
      duration_seconds: Math.floor((ended_at - started_at) / 1_000_000),
      summary: text,
      service_request_id: await serviceRequestOf(tx, lease),
      job_id: jobId,
    },
    null,
    people,
  );
}

/** One of the service requests booked for the visit, always the same one. */
async function serviceRequestOf(tx: Transaction, { companyId, visitId }: LeasedNotification): Promise<string | undefined> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'service_request_of_visit',
    text: 'select id from service_requests where company_id = $1 and appointment_id = $2 order by id limit 1',
    values: [companyId, visitId],
  });
  return rows[0]?.id;
}
