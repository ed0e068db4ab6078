// Creates a history for an endpoint by inserting attempt counts, because a test cannot wait for days.
import type { System } from '../support/system.ts';

/** Inserts the results of attempts for each quarter of an hour of the last `hours`, with their approximate duration in milliseconds. */
export async function remember(
  system: System,
  endpointId: string,
  hours: number,
  { delivered, failed, bucket }: { delivered: number; failed: number; bucket: number },
): Promise<void> {
  await system.database.query({
    text: `insert into integrations.webhook_counts (company_id, endpoint_id, at, minutes, delivered, failed, latencies, last_success_at)
      select e.company_id, e.id, t.at, 15, n.delivered, n.failed,
        array(select case b - $5 when -1 then n.delivered / 4 when 0 then n.delivered / 2 when 1 then n.delivered / 5 when 3 then 1 else 0 end from generate_series(1, 21) b),
        case when n.delivered > 0 then t.at + interval '14 minutes' end
      from integrations.webhook_endpoints e,
        generate_series(date_trunc('hour', now()) - make_interval(hours => $2), date_trunc('hour', now()) - interval '15 minutes', interval '15 minutes') with ordinality t (at, i),
        lateral (select ($3 * (1.2 + sin(t.i / 9.0)))::int as delivered, (case when t.i % 7 = 0 then $4 else $4 / 4 end)::int as failed) n
      where e.id = $1`,
    values: [endpointId, hours, delivered, failed, bucket],
  });
}
