import { listEventTypes, type DeliveryFilter } from '../api/integrations.ts';
import { DELIVERY_STATUSES, TEST_EVENT, type Attempt, type Delivery, type Page } from '../api/types.ts';
import { DeliveryBadge } from '../parts/badge.tsx';
import { Breakable } from '../parts/breakable.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { Time, duration } from '../parts/time.tsx';
import { useResource, type Resource } from '../state/resource.ts';
import { go, places } from '../state/route.ts';

/** A try that comes later than this is not waited for with frequent questions. */
const SOON_MS = 20_000;

/** Whether the delivery is likely to change within moments. */
export function expectsChange({ status, nextAttemptAt }: Delivery): boolean {
  return status === 'pending' && (nextAttemptAt === null || Date.parse(nextAttemptAt) < Date.now() + SOON_MS);
}

/** "500 after 35 ms", or what came in its place. */
export function outcome({ response, error, errorMessage, startedAt, endedAt }: Attempt): string {
  const what = response !== null ? String(response.status) : (errorMessage ?? error ?? 'No answer');
  return `${what} after ${duration(startedAt, endedAt)}`;
}

const columns = (id: string): readonly Column<Delivery>[] => [
  { title: 'Event', cell: (delivery) => <a class="name" href={places.delivery(id, delivery.id)}><Breakable text={delivery.eventType} /></a> },
  { title: 'Status', cell: (delivery) => <DeliveryBadge delivery={delivery} /> },
  { title: 'Happened', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { title: 'Attempts', cell: ({ attempts }) => attempts.at(-1)?.number ?? 0 },
  {
    title: 'Last answer',
    cell: ({ attempts, nextAttemptAt }) => {
      const last = attempts.at(-1);
      return (
        <>
          {last === undefined ? <span class="soft">None</span> : <span class="answer">{outcome(last)}</span>}
          {nextAttemptAt !== null && attempts.length > 0 && <span class="soft below">next try <Time at={nextAttemptAt} /></span>}
        </>
      );
    },
  },
];

interface Given {
  id: string;
  filter: DeliveryFilter;
  page: Resource<Page<Delivery>>;
}

/** What was sent to an endpoint, newest first. Filter and page are in the address. */
export function Deliveries({ id, filter, page: { value: page } }: Given) {
  const types = useResource('event-types', listEventTypes);
  const { status = '', eventType = '', cursor } = filter;
  const narrow = (change: DeliveryFilter): void => go(places.endpoint(id, { status, eventType, ...change }));
  const filtered = status !== '' || eventType !== '';
  // A type that the address names, whatever the listing says, so that what is chosen is what is shown.
  const choices = new Set([...(types.value ?? []).map(({ type }) => type), TEST_EVENT, ...(eventType === '' ? [] : [eventType])]);
  return (
    <section aria-labelledby="deliveries">
      <div class="head">
        <h2 id="deliveries">Deliveries</h2>
        <div class="filters">
          <label>
            Status
            <select value={status} onChange={(event) => narrow({ status: event.currentTarget.value })}>
              <option value="">All</option>
              {DELIVERY_STATUSES.map((each) => <option key={each} value={each}>{each[0]!.toUpperCase() + each.slice(1)}</option>)}
            </select>
          </label>
          <label>
            Event
            <select value={eventType} onChange={(event) => narrow({ eventType: event.currentTarget.value })}>
              <option value="">All</option>
              {[...choices].map((each) => <option key={each} value={each}>{each}</option>)}
            </select>
          </label>
        </div>
      </div>
      {page !== undefined && page.data.length === 0 && (
        <div class="empty">
          {filtered || cursor !== undefined ? <p>No deliveries match. <a href={places.endpoint(id)}>Show all</a></p> : <p>Nothing was sent yet. Events arrive as they happen; a test can be sent at any time.</p>}
        </div>
      )}
      {page !== undefined && page.data.length > 0 && <Table caption="Deliveries, newest first" columns={columns(id)} rows={page.data} rowKey={(delivery) => delivery.id} />}
      {page !== undefined && (cursor !== undefined || page.nextCursor !== null) && (
        <nav class="pages" aria-label="Pages of deliveries">
          {cursor !== undefined && <a class="button" href={places.endpoint(id, { status, eventType })}>Newest</a>}
          {page.nextCursor !== null && <a class="button" href={places.endpoint(id, { status, eventType, cursor: page.nextCursor })}>Older</a>}
        </nav>
      )}
    </section>
  );
}
