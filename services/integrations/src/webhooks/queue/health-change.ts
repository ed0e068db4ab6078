import { formatInstant } from '@truckroll/contract';
import type { Transaction } from '@truckroll/postgres';
import { skipQueued } from './skip.ts';
import { alertIfDue } from '../health/alerts.ts';
import type { DisabledReason, HealthChange } from '../health/rules.ts';

interface Endpoint {
  readonly company_id: string;
  readonly endpoint_id: string;
}

/** Stores a change of health; most attempts cause none. `at` is the end of the attempt, in microseconds since 1970. A test raises no alert. */
export async function storeHealth(tx: Transaction, endpoint: Endpoint, change: HealthChange, at: number, isTest = false): Promise<void> {
  const { company_id, endpoint_id } = endpoint;
  const { failing_since: failingSince, slowdowns, resume_at: resumeAt, circuit_open_until: circuitOpenUntil, disable } = change;
  if (failingSince !== undefined) {
    await tx.query({
      name: 'note_webhook_failing',
      // The earliest of several concurrent first failures counts.
      text: `update webhook_endpoints set failing_since = case when $3::timestamptz is null then null else least(failing_since, $3) end
        where company_id = $1 and id = $2`,
      values: [company_id, endpoint_id, failingSince === null ? null : formatInstant(failingSince)],
    });
  }
  if (slowdowns !== undefined) {
    await tx.query({
      name: 'slow_webhook_down',
      text: 'update webhook_endpoints set slowdowns = $3, resume_at = $4 where company_id = $1 and id = $2',
      values: [company_id, endpoint_id, slowdowns, resumeAt == null ? null : formatInstant(resumeAt)],
    });
  }
  if (circuitOpenUntil !== undefined) {
    await tx.query({
      name: 'note_webhook_circuit',
      text: 'update webhook_endpoints set circuit_open_until = $3 where company_id = $1 and id = $2',
      values: [company_id, endpoint_id, circuitOpenUntil === null ? null : formatInstant(circuitOpenUntil)],
    });
  }
  if (disable === undefined || !(await disableFor(tx, endpoint, disable))) return;
  // Five days of failures are reported, whichever attempt was the last.
  if (!isTest || disable === 'FAILING') await alertIfDue(tx, company_id, endpoint_id, at);
}

/** False if it was disabled before. */
async function disableFor(tx: Transaction, { company_id, endpoint_id }: Endpoint, reason: DisabledReason): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'disable_webhook',
    text: `update webhook_endpoints set enabled = false, disabled_reason = $3, updated_at = now()
      where company_id = $1 and id = $2 and enabled and deleted_at is null`,
    values: [company_id, endpoint_id, reason],
  });
  if (rowCount === 0) return false;
  await skipQueued(tx, company_id, endpoint_id);
  return true;
}
