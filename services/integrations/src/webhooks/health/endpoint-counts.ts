import { now } from '@truckroll/contract';
import type { CountEndpointsRequest, CountEndpointsResponse } from '@truckroll/contract/gen/integrations/v1/summary';
import { WebhookHealthState } from '@truckroll/contract/gen/integrations/v1/webhook_health';
import type { Context } from '../../context.ts';
import { checked } from '../../requests.ts';
import { selectStandings, stateOf } from './standing.ts';

async function count({ database }: Context, request: CountEndpointsRequest): Promise<CountEndpointsResponse> {
  const { company_id: companyId } = checked('CountEndpointsRequest', request);
  const at = now();
  const states = (await selectStandings(database.of(companyId), companyId)).map((standing) => stateOf(standing, at));
  const having = (wanted: WebhookHealthState): number => states.filter((state) => state === wanted).length;
  return { failing: having(WebhookHealthState.FAILING), paused: having(WebhookHealthState.PAUSED) };
}

export const endpointCounts = { countEndpoints: count };
