import { ApiError, now } from '@truckroll/contract';
import { WebhookHealthPeriod, type GetWebhookHealthRequest, type GetWebhookHealthResponse } from '@truckroll/contract/gen/integrations/v1/webhook_health';
import type { Context } from '../../context.ts';
import { checked, companyOf } from '../../requests.ts';
import { noEndpoint } from '../endpoints/store.ts';
import { figuresOf, selectCounts, seriesOf, sinceOf, type Span } from './read.ts';
import { selectStandings } from './standing.ts';

const SPANS: Readonly<Partial<Record<WebhookHealthPeriod, Span>>> = {
  [WebhookHealthPeriod.HOUR]: { minutes: 1, buckets: 60 },
  [WebhookHealthPeriod.DAY]: { minutes: 15, buckets: 96 },
  [WebhookHealthPeriod.WEEK]: { minutes: 60, buckets: 168 },
};
const SECOND = 1_000_000;

async function get({ database }: Context, request: GetWebhookHealthRequest): Promise<GetWebhookHealthResponse> {
  const companyId = companyOf(request);
  const { period } = checked('GetWebhookHealthRequest', request);
  const span = SPANS[period];
  if (span === undefined) throw ApiError.internal(new Error('a read of health came without its period'));
  const own = database.of(companyId);
  const [standing] = await selectStandings(own, companyId, request.key?.id ?? '');
  if (standing === undefined) throw noEndpoint();
  const at = now();
  const since = sinceOf(span, at);
  const { sum, buckets } = seriesOf(await selectCounts(own, [standing], since), span, at);
  const seconds = span.minutes * 60;
  return { data: { period, since, until: since + span.buckets * seconds * SECOND, bucket_seconds: seconds, ...figuresOf(sum), buckets } };
}

export const webhookHealth = { getWebhookHealth: get };
