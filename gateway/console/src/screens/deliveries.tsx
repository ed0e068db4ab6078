import { useState } from 'preact/hooks';
import { listDeliveries, redeliverAll, type DeliveryFilter } from '../api/integrations.ts';
import type { Delivery, Page } from '../api/types.ts';
import { DeliveryBadge } from '../parts/badge.tsx';
import { Breakable } from '../parts/breakable.tsx';
import { deliveries as counted } from '../parts/figures.ts';
import { isReversed } from '../parts/moment-input.tsx';
import { ProblemBox } from '../parts/problem-box.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { Time, until } from '../parts/time.tsx';
import { useAction } from '../state/action.ts';
import { useResource, type Resource } from '../state/resource.ts';
import { places } from '../state/route.ts';
import { DeliveryFilters, addressOf, isNarrowed, resolved, type Narrowing } from './delivery-filters.tsx';
import { nextTry, outcome } from './outcome.ts';
import type { Sent } from './sending.tsx';

/** Polls often only if the next attempt is at most this many ms away. */
const SOON_MS = 20_000;

export function expectsChange({ status, nextAttemptAt }: Delivery): boolean {
  return status === 'pending' && (nextAttemptAt === null || Date.parse(nextAttemptAt) < Date.now() + SOON_MS);
}

/** A page and the filter it was read with. Times relative to now are fixed by the first page, so that the pages after it match. */
interface Listed extends Page<Delivery> {
  readonly filter: DeliveryFilter;
}

export function useDeliveries(id: string, narrowing: Narrowing): Resource<Listed> {
  const load = async (signal: AbortSignal): Promise<Listed> => {
    const filter = resolved(narrowing);
    // A range that ends before it begins is said to do so, and has nothing.
    if (isReversed(filter.createdFrom, filter.createdBefore)) return { data: [], nextCursor: null, filter };
    return { ...(await listDeliveries(id, filter, signal)), filter };
  };
  return useResource(`deliveries ${id} ${JSON.stringify(narrowing)}`, load, ({ data }) => data.some(expectsChange));
}

interface Given {
  id: string;
  narrowing: Narrowing;
  page: Resource<Listed>;
  /** Whether only manual deliveries are being sent. */
  heldBack: boolean;
  onSent: (sent: Sent) => void;
}

/** Deliveries to an endpoint, newest first. Filter and page are in the address. */
export function Deliveries({ id, narrowing, page: { value: page, problem }, heldBack, onSent }: Given) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const action = useAction();
  const rows = page?.data ?? [];
  // Only selected deliveries that are still on the page are sent.
  const picked = rows.filter((delivery) => chosen.has(delivery.id));
  const { cursor } = narrowing;

  function choose(ids: readonly string[], into: boolean): void {
    const next = new Set(chosen);
    for (const each of ids)
      if (into) next.add(each);
      else next.delete(each);
    setChosen(next);
  }

  const again = () =>
    action.run(async () => {
      const answers = await redeliverAll(
        id,
        picked.map((delivery) => delivery.id),
      );
      const queued = new Set(answers.filter((each) => each.queued).map((each) => each.id));
      setChosen(new Set());
      if (queued.size > 0)
        onSent({
          what: 'Redelivery',
          before: new Map(picked.filter((each) => queued.has(each.id)).map((each) => [each.id, each.attempts.at(-1)?.number ?? 0])),
        });
      const refused = answers.filter((each) => !each.queued);
      if (refused.length > 0)
        throw new Error(`${counted(refused.length)} could not be sent again. ${[...new Set(refused.map(({ message }) => message ?? ''))].join(' ')}`);
    });

  return (
    <section aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries</h2>
      <DeliveryFilters id={id} narrowing={narrowing} problem={problem} />
      <ProblemBox problem={action.problem} focus />
      {page !== undefined && rows.length === 0 && (
        <div class="empty">
          {isNarrowed(narrowing) || cursor !== undefined ? (
            <p>
              No deliveries match. <a href={places.endpoint(id)}>Show all</a>
            </p>
          ) : (
            <p>Nothing was sent yet. Events arrive as they happen; a test can be sent at any time.</p>
          )}
        </div>
      )}
      {rows.length > 0 && (
        <>
          <div class="selection">
            <label class="choice">
              <input
                type="checkbox"
                checked={picked.length === rows.length}
                onChange={(event) =>
                  choose(
                    rows.map((each) => each.id),
                    event.currentTarget.checked,
                  )
                }
              />
              Select all {rows.length}
            </label>
            <button type="button" class="small" disabled={picked.length === 0 || action.busy} onClick={() => void again()}>
              {picked.length === 0 ? 'Redeliver selected' : `Redeliver ${picked.length}`}
            </button>
          </div>
          <Table
            caption="Deliveries, newest first"
            columns={columns(id, chosen, heldBack, (each, into) => choose([each.id], into))}
            rows={rows}
            rowKey={(delivery) => delivery.id}
          />
        </>
      )}
      {page !== undefined && (cursor !== undefined || page.nextCursor !== null) && (
        <nav class="pages" aria-label="Pages of deliveries">
          {cursor !== undefined && (
            <a
              class="button"
              href={places.endpoint(id, addressOf({ ...narrowing, from: narrowing.time === undefined ? narrowing.from : undefined, cursor: undefined }))}
            >
              Newest
            </a>
          )}
          {page.nextCursor !== null && (
            <a class="button" href={places.endpoint(id, addressOf({ ...narrowing, from: page.filter.createdFrom, cursor: page.nextCursor }))}>
              Older
            </a>
          )}
        </nav>
      )}
    </section>
  );
}

const columns = (
  id: string,
  chosen: ReadonlySet<string>,
  heldBack: boolean,
  onChoose: (delivery: Delivery, into: boolean) => void,
): readonly Column<Delivery>[] => [
  {
    title: 'Event',
    cell: (delivery) => (
      <div class="pick">
        <input
          type="checkbox"
          checked={chosen.has(delivery.id)}
          aria-label={`Select ${named(delivery)}`}
          onChange={(event) => onChoose(delivery, event.currentTarget.checked)}
        />
        <div>
          <a class="name" href={places.delivery(id, delivery.id)}>
            <Breakable text={delivery.eventType} />
          </a>
          <Subject delivery={delivery} href={places.endpoint(id, { subject: delivery.subjectNumber ?? delivery.subject })} />
        </div>
      </div>
    ),
  },
  { title: 'Status', cell: (delivery) => <DeliveryBadge delivery={delivery} /> },
  {
    title: 'Response',
    cell: (delivery) => {
      const last = delivery.attempts.at(-1);
      const next = nextTry(delivery);
      return (
        <>
          {last === undefined ? <span class="soft">None yet</span> : <span class="answer">{outcome(last)}</span>}
          {next !== undefined && <span class="soft below">next try at {until(new Date(next))}</span>}
          {next === undefined && last !== undefined && delivery.status === 'pending' && (
            <span class="soft below">{heldBack ? 'held back' : 'next try any moment'}</span>
          )}
        </>
      );
    },
  },
  { title: 'Attempts', cell: ({ attempts }) => attempts.at(-1)?.number ?? 0 },
  { title: 'Happened', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** "service_request.created of SR-204" */
function named({ eventType, subjectNumber, createdAt }: Delivery): string {
  return `${eventType} ${subjectNumber === null ? `at ${until(new Date(createdAt))}` : `of ${subjectNumber}`}`;
}

function Subject({ delivery: { subjectNumber, customerName }, href }: { delivery: Delivery; href: string }) {
  if (subjectNumber === null && customerName === null) return null;
  return (
    <span class="soft below">
      {subjectNumber !== null && <a href={href}>{subjectNumber}</a>}
      {subjectNumber !== null && customerName !== null && ' · '}
      {customerName}
    </span>
  );
}
