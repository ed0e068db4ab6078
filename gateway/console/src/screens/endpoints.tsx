import { listEndpoints } from '../api/integrations.ts';
import type { Endpoint } from '../api/types.ts';
import { EndpointBadge, OwnerlessBadge, StatusBadge, disabledReason } from '../parts/badge.tsx';
import { Breakable } from '../parts/breakable.tsx';
import { Page } from '../parts/page.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { TimeOr } from '../parts/time.tsx';
import { useResource } from '../state/resource.ts';
import { places } from '../state/route.ts';

const COLUMNS: readonly Column<Endpoint>[] = [
  {
    title: 'Endpoint',
    cell: ({ id, name, url }) => (
      <>
        <a class="name" href={places.endpoint(id)}>{name}</a>
        <span class="url">{url}</span>
      </>
    ),
  },
  {
    title: 'State',
    cell: (endpoint) => (
      <>
        <EndpointBadge endpoint={endpoint} /> {endpoint.ownerless && <OwnerlessBadge />}
        {disabledReason(endpoint) && <span class="soft below">{disabledReason(endpoint)}</span>}
      </>
    ),
  },
  {
    title: 'Events',
    cell: ({ eventTypes }) => (
      <ul class="types">{eventTypes.map((type) => <li key={type}><code><Breakable text={type} /></code></li>)}</ul>
    ),
  },
  {
    title: 'Last delivery',
    cell: ({ lastDeliveryStatus, lastDeliveryAt }) => (
      <>
        {lastDeliveryStatus !== null && <StatusBadge status={lastDeliveryStatus} />}
        <span class="below"><TimeOr at={lastDeliveryAt} otherwise={lastDeliveryStatus === null ? 'None yet' : 'Not sent yet'} /></span>
      </>
    ),
  },
];

export function Endpoints() {
  const endpoints = useResource('endpoints', listEndpoints, (list) => list.some(({ lastDeliveryStatus }) => lastDeliveryStatus === 'pending'));
  const list = endpoints.value;
  return (
    <Page title="Webhook endpoints" live={[endpoints]} actions={<a class="button primary" href={places.newEndpoint}>Add endpoint</a>}>
      {list?.length === 0 && (
        <div class="empty">
          <h2>No endpoints yet</h2>
          <p>An endpoint is an address of yours to which Truckroll sends events, moments after they happen: signed, in order, and again until you have them.</p>
          <a class="button primary" href={places.newEndpoint}>Add your first endpoint</a>
        </div>
      )}
      {list !== undefined && list.length > 0 && (
        <Table caption="Webhook endpoints" columns={COLUMNS} rows={list} rowKey={({ id }) => id} />
      )}
    </Page>
  );
}
