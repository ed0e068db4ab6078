import { now } from '@truckroll/contract';
import type { CountEndpointsRequest, CountEndpointsResponse } from '@truckroll/contract/gen/integrations/v1/summary';
import { WebhookHealthState } from '@truckroll/contract/gen/integrations/v1/webhook_health';
import type { Context } from '../context.ts';
import { checked } from '../requests.ts';
import { selectStandings, stateOf, type EndpointStanding } from './standing.ts';

async function count({ database }: Context, request: CountEndpointsRequest): Promise<CountEndpointsResponse> {
  const { company_id: companyId } = checked('CountEndpointsRequest', request);
  const at = now();
  const standings = await selectStandings(database.of(companyId), companyId);
  return {
    failing: standings.filter((standing) => stateOf(standing, at) === WebhookHealthState.FAILING).length,
    paused: standings.filter(isPaused).length,
  };
}

/** No endpoint can be paused yet: decisions §15 is not built. */
function isPaused(_: EndpointStanding): boolean {
  return false;
}

export const endpointCounts = { countEndpoints: count };
