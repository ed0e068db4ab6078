// Which webhook endpoints have problems, for the navigation and the home page.
import { listEndpoints } from '../api/integrations.ts';
import type { Endpoint } from '../api/types.ts';
import { useResource, type Resource } from './resource.ts';

export interface Attention {
  readonly failing: number;
  /** Those that answer some requests and fail others, or have not caught up yet. */
  readonly degraded: number;
  readonly paused: number;
  /** Deliveries that wait at endpoints with problems. */
  readonly waiting: number;
}

function attentionTo(endpoints: readonly Endpoint[]): Attention {
  const enabled = endpoints.filter(({ state }) => state === 'ENABLED');
  const among = (wanted: string): Endpoint[] => enabled.filter(({ health }) => health?.state === wanted);
  const [failing, degraded] = [among('failing'), among('degraded')];
  return {
    failing: failing.length,
    degraded: degraded.length,
    paused: endpoints.filter(({ state }) => state === 'PAUSED').length,
    waiting: [...failing, ...degraded].reduce((sum, { health }) => sum + (health?.backlog ?? 0), 0),
  };
}

export const useAttention = (): Resource<Attention> => useResource('attention', async (signal) => attentionTo(await listEndpoints(signal)));
