import { ApiError, now } from '@truckroll/contract';
import type { EndpointAccount, ListEndpointsRequest, ListEndpointsResponse } from '@truckroll/contract/gen/integrations/v1/admin';
import { WebhookHealthState } from '@truckroll/contract/gen/integrations/v1/webhook_health';
import { DisabledReason } from '@truckroll/contract/gen/integrations/v1/webhooks';
import type { Database } from '@truckroll/postgres';
import type { Context } from '../context.ts';
import { checked } from '../requests.ts';
import { readHealth, selectHealthInputs, stateOf, type HealthInputs } from './health/read.ts';

/** Worst first. DISABLED here means disabled by us; endpoints disabled by users come last. */
const ORDER: readonly WebhookHealthState[] = [
  WebhookHealthState.FAILING,
  WebhookHealthState.DISABLED,
  WebhookHealthState.DEGRADED,
  WebhookHealthState.PAUSED,
  WebhookHealthState.HEALTHY,
  WebhookHealthState.IDLE,
];

/** Sort key in the list. `since` is the start of failure in microseconds. */
type SortKey = readonly [rank: number, since: number, id: string];

async function list({ database }: Context, request: ListEndpointsRequest): Promise<ListEndpointsResponse> {
  const { company_id = null, state, limit } = checked('ListEndpointsRequest', request);
  const at = now();
  const asked = new Set(state);
  const all = (await selectHealthInputs(database, company_id))
    .map((input) => ({ input, sortKey: sortKeyOf(input, at), state: stateOf(input, at) }))
    .filter((each) => asked.size === 0 || asked.has(each.state))
    .toSorted((a, b) => compare(a.sortKey, b.sortKey));
  const after = request.after.length === 0 ? undefined : sortKeyFrom(request.after);
  const rest = after === undefined ? all : all.filter(({ sortKey }) => compare(sortKey, after) > 0);
  const page = rest.slice(0, limit);
  const last = rest.length > limit ? page.at(-1) : undefined;
  const next = last === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(last.sortKey));
  return {
    endpoints: await describe(
      database,
      page.map(({ input }) => input),
    ),
    next,
    total: all.length,
  };
}

function sortKeyOf(input: HealthInputs, at: number): SortKey {
  const byUser = !input.enabled && input.disabled_reason === null;
  const rank = byUser ? ORDER.length : ORDER.indexOf(stateOf(input, at));
  return [rank, input.failing_since ?? Number.MAX_SAFE_INTEGER, input.id];
}

function compare(a: SortKey, b: SortKey): number {
  const [different = 0] = [a[0] - b[0], a[1] - b[1]].filter((difference) => difference !== 0);
  return different || (a[2] < b[2] ? -1 : Number(a[2] > b[2]));
}

function sortKeyFrom(bytes: Uint8Array): SortKey {
  try {
    const [rank, since, id] = JSON.parse(Buffer.from(bytes).toString()) as unknown[];
    if (typeof rank === 'number' && typeof since === 'number' && typeof id === 'string') return [rank, since, id];
  } catch {
    // Reported below.
  }
  throw new ApiError('INVALID_CURSOR', 'Give `after` as the page before it did, or leave it empty.');
}

async function describe(database: Database, inputs: readonly HealthInputs[]): Promise<EndpointAccount[]> {
  const [health, { rows }] = await Promise.all([
    readHealth(database, inputs),
    database.query<{ id: string; company_id: string; company_name: string; name: string; url: string; disabled_reason: HealthInputs['disabled_reason'] }>({
      name: 'describe_webhooks',
      text: `select e.id, e.company_id, c.name as company_name, e.name, e.url, e.disabled_reason
        from webhook_endpoints e join companies c on c.id = e.company_id where e.id = any($1::uuid[])`,
      values: [inputs.map(({ id }) => id)],
    }),
  ]);
  const found = new Map(rows.map((row) => [row.id, row]));
  return inputs.flatMap(({ id }) => {
    const row = found.get(id);
    if (row === undefined) return [];
    const { company_id, company_name, name, url, disabled_reason: reason } = row;
    const disabled_reason = reason === null ? null : DisabledReason[reason];
    return [{ id, company_id, company_name, name, host: new URL(url).host, disabled_reason, health: health.get(id) ?? null }];
  });
}

export const endpointAdmin = { listEndpoints: list };
