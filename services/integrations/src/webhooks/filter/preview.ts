// WebhookService.PreviewWebhookFilter: shows which of a company's newest events a filter would have let through (decisions §15).
import { refuseBroken } from '@truckroll/contract';
import type { PreviewWebhookFilterRequest, PreviewWebhookFilterResponse } from '@truckroll/contract/gen/integrations/v1/webhooks';
import type { Context } from '../../context.ts';
import { callerOf, checked } from '../../requests.ts';
import { oldestDay } from '../log/partitions.ts';
import { compileText, dataOf } from './matchers.ts';
import { filterProblems, storedFilter } from './store.ts';

const MOST_EVENTS = 1000;

interface Row {
  id: string;
  type: string;
  occurred_at: number;
  subject: string;
  subject_number: string | null;
  customer_name: string | null;
  /** Null if the event is not of a wanted type. */
  body: Buffer | null;
}

/** Errors: 400 with all problems of the filter for these event types. */
export async function previewFilter({ database }: Context, request: PreviewWebhookFilterRequest): Promise<PreviewWebhookFilterResponse> {
  const { company_id } = callerOf(request);
  const { event_types, filter } = checked('PreviewWebhookFilterRequest', request);
  refuseBroken(filterProblems(filter, event_types));
  const { rows } = await database.of(company_id).query<Row>({
    name: 'newest_webhook_events',
    text: `with newest as (
        select * from webhook_event_log where company_id = $1 and day >= $2 order by day desc, occurred_at desc, id desc limit ${MOST_EVENTS})
      select l.id, l.type, l.occurred_at, l.subject, l.subject_number, l.customer_name, v.body from newest l left join lateral (
        select body from webhook_events where l.type = any($3::text[]) and company_id = $1 and day = l.day and id = l.id limit 1) v on true
      order by l.day desc, l.occurred_at desc, l.id desc`,
    values: [company_id, oldestDay(), event_types],
  });
  const text = storedFilter(filter);
  const matchers = new Map(text === null ? [] : event_types.map((type) => [type, compileText(text, type)]));
  const matching = rows.filter(({ type, body }) => body !== null && matchers.get(type)?.(dataOf({ body })) !== false);
  return {
    data: {
      examined: rows.length,
      oldest_at: rows.at(-1)?.occurred_at ?? null,
      events: matching.map(({ id, type, occurred_at, subject, subject_number, customer_name }) => ({
        id,
        event_type: type,
        created_at: occurred_at,
        subject,
        subject_number,
        customer_name,
      })),
    },
  };
}
