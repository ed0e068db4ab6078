// Shows the results of manual deliveries as they arrive; these are sent at once.
import { useEffect, useRef, useState } from 'preact/hooks';
import { readDeliveries } from '../api/integrations.ts';
import type { Attempt, Delivery } from '../api/types.ts';
import { Badge } from '../parts/badge.tsx';
import { deliveries as counted } from '../parts/figures.ts';
import { useResource } from '../state/resource.ts';
import { places } from '../state/route.ts';
import { outcome } from './outcome.ts';

const LOOK_MS = 250;

export interface Sent {
  readonly what: 'Test' | 'Redelivery';
  /** The number of each delivery's newest attempt before it was sent again, by delivery id. */
  readonly before: ReadonlyMap<string, number>;
}

/** The attempt made since; undefined if there is none yet. */
function madeSince(delivery: Delivery, before: ReadonlyMap<string, number>): Attempt | undefined {
  const last = delivery.attempts.at(-1);
  return last !== undefined && last.number > (before.get(delivery.id) ?? 0) ? last : undefined;
}

interface Given {
  endpointId: string;
  sent: Sent | undefined;
  /** Called when every delivery has been attempted, so that other data on the screen can be loaded again. */
  onSettled: () => void;
  onDismiss: () => void;
}

/** Always rendered, empty at first: screen readers announce only live regions that already exist. */
export function Sending(given: Given) {
  const { sent } = given;
  return (
    <div class="sending" role="status" data-shown={sent !== undefined}>
      {sent !== undefined && <Results key={[...sent.before].join()} {...given} sent={sent} />}
    </div>
  );
}

function Results({ endpointId, sent: { what, before }, onSettled, onDismiss }: Given & { sent: Sent }) {
  const ids = [...before.keys()];
  const open = (list: readonly Delivery[]): number => list.filter((delivery) => madeSince(delivery, before) === undefined).length;
  const [done, setDone] = useState<readonly Delivery[] | undefined>(undefined);
  const loaded = useResource(
    `sent ${ids.join()} ${[...before.values()].join()}`,
    (signal) => readDeliveries(endpointId, ids, signal),
    (list) => open(list) > 0,
    LOOK_MS,
  );
  const list = done ?? loaded.value;
  const settled = list !== undefined && open(list) === 0;
  const reported = useRef(false);
  useEffect(() => {
    if (!settled || reported.current) return;
    reported.current = true;
    // Later retries do not change this result.
    setDone(list);
    onSettled();
  }, [settled]);

  const results = (list ?? []).flatMap((delivery) => madeSince(delivery, before) ?? []);
  const delivered = results.filter(({ succeeded }) => succeeded).length;
  return (
    <>
      <div>
        {ids.length === 1 ? (
          <One what={what} href={places.delivery(endpointId, ids[0]!)} attempt={results[0]} />
        ) : (
          <Many all={ids.length} delivered={delivered} failed={results.length - delivered} />
        )}
      </div>
      <button type="button" class="small" aria-label={`Dismiss the result of the ${what.toLowerCase()}`} onClick={onDismiss}>
        Dismiss
      </button>
    </>
  );
}

function One({ what, href, attempt }: { what: Sent['what']; href: string; attempt: Attempt | undefined }) {
  if (attempt === undefined) return <>{what}: sending…</>;
  const here = location.hash === href;
  return (
    <>
      {what} <Badge tone={attempt.succeeded ? 'good' : 'bad'}>{attempt.succeeded ? 'Delivered' : 'Failed'}</Badge>{' '}
      <span class="answer">{outcome(attempt)}</span>
      {!here && (
        <>
          {' '}
          <a href={href}>See request and response</a>
        </>
      )}
    </>
  );
}

function Many({ all, delivered, failed }: { all: number; delivered: number; failed: number }) {
  const left = all - delivered - failed;
  const parts = [`${delivered} delivered`, `${failed} failed`, ...(left > 0 ? [`${left} being sent`] : [])];
  return (
    <>
      {counted(all)} sent again: {parts.join(', ')}.
    </>
  );
}
