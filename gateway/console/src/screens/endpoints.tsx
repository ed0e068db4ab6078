import { listEndpoints } from '../api/integrations.ts';
import type { Endpoint, Health } from '../api/types.ts';
import { EndpointBadge, NewestBadge, OwnerlessBadge, disabledReason } from '../parts/badge.tsx';
import { counts, number, percent } from '../parts/figures.ts';
import { Page } from '../parts/page.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { TimeOr, until } from '../parts/time.tsx';
import { useResource } from '../state/resource.ts';
import { places } from '../state/route.ts';
import { isMoving } from './endpoint.tsx';

const COLUMNS: readonly Column<Endpoint>[] = [
  {
    title: 'Endpoint',
    cell: ({ id, name, url, eventTypes }) => (
      <>
        <a class="name" href={places.endpoint(id)}>
          {name}
        </a>
        <span class="url">{url}</span>
        <span class="soft below" title={eventTypes.join(', ')}>
          {eventTypes.length === 1 ? eventTypes[0] : `${eventTypes.length} event types`}
        </span>
      </>
    ),
  },
  {
    title: 'State',
    cell: (endpoint) => (
      <>
        <EndpointBadge endpoint={endpoint} /> {endpoint.ownerless && <OwnerlessBadge />}
        {disabledReason(endpoint) && <span class="soft below">{disabledReason(endpoint)}</span>}
        {endpoint.state !== 'DISABLED' && endpoint.health && <Since health={endpoint.health} />}
      </>
    ),
  },
  {
    title: 'Last 24 hours',
    cell: ({ health }) =>
      health && (
        <>
          <Sparkline buckets={health.hours} />
          {health.successRate !== null && (
            <span class="soft below" title={counts(health)}>
              {percent(health.successRate)} delivered
            </span>
          )}
        </>
      ),
  },
  {
    title: 'Newest event',
    cell: ({ lastDeliveryStatus, lastDeliveryAt }) => (
      <>
        {lastDeliveryStatus !== null && <NewestBadge status={lastDeliveryStatus} at={lastDeliveryAt} />}
        <span class="below">
          <TimeOr at={lastDeliveryAt} otherwise={lastDeliveryStatus === null ? 'None yet' : 'Not sent yet'} />
        </span>
      </>
    ),
  },
];

function Since({ health: { failingSince, backlog } }: { health: Health }) {
  return (
    <>
      {failingSince !== null && <span class="soft below">since {until(new Date(failingSince))}</span>}
      {backlog > 0 && <span class="soft below">{number(backlog)} waiting</span>}
    </>
  );
}

/** Order of endpoints, worst first. Endpoints that users disabled come last. */
const RANKS: readonly Health['state'][] = ['failing', 'disabled', 'degraded', 'paused', 'healthy', 'idle'];

function rankOf({ state, disabledReason: reason, health }: Endpoint): number {
  if (state === 'DISABLED' && reason === null) return RANKS.length;
  return health == null ? RANKS.indexOf('idle') : RANKS.indexOf(health.state);
}

/** Worst first; of equal ones, the longest failing first, then by name. */
function worstFirst(list: readonly Endpoint[]): Endpoint[] {
  const since = ({ health }: Endpoint): number => (health?.failingSince == null ? Infinity : Date.parse(health.failingSince));
  const order = (a: number, b: number): number => (a === b ? 0 : a - b);
  return list.toSorted((a, b) => order(rankOf(a), rankOf(b)) || order(since(a), since(b)) || a.name.localeCompare(b.name));
}

export function Endpoints() {
  const endpoints = useResource('endpoints', listEndpoints, (list) => list.some(isMoving));
  const list = endpoints.value;
  return (
    <Page
      title="Webhook endpoints"
      live={[endpoints]}
      actions={
        <a class="button primary" href={places.newEndpoint}>
          Add endpoint
        </a>
      }
    >
      {list?.length === 0 && (
        <div class="empty">
          <h2>No endpoints yet</h2>
          <p>An endpoint is an address of yours to which Truckroll sends events, moments after they happen: signed, in order, and again until you have them.</p>
          <a class="button primary" href={places.newEndpoint}>
            Add your first endpoint
          </a>
        </div>
      )}
      {list !== undefined && list.length > 0 && <Table caption="Webhook endpoints" columns={COLUMNS} rows={worstFirst(list)} rowKey={({ id }) => id} />}
    </Page>
  );
}
