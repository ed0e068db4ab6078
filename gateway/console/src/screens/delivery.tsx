import { useMemo, useState } from 'preact/hooks';
import { listAttempts, readDelivery, readEndpoint, redeliver } from '../api/integrations.ts';
import type { Attempt, Delivery as DeliveryRecord, Header } from '../api/types.ts';
import { Badge, DeliveryBadge } from '../parts/badge.tsx';
import { BodyText } from '../parts/body-text.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Page } from '../parts/page.tsx';
import { ProblemBox } from '../parts/problem-box.tsx';
import { Time, duration } from '../parts/time.tsx';
import { useAction } from '../state/action.ts';
import { useResource } from '../state/resource.ts';
import { places } from '../state/route.ts';
import { expectsChange } from './deliveries.tsx';
import { nextTry, outcome, reason } from './outcome.ts';
import { Sending, type Sent } from './sending.tsx';

export function Delivery({ endpointId, id }: { endpointId: string; id: string }) {
  const endpoint = useResource(`endpoint ${endpointId}`, (signal) => readEndpoint(endpointId, signal));
  const delivery = useResource(`delivery ${id}`, (signal) => readDelivery(endpointId, id, signal), expectsChange);
  const action = useAction();
  const [sent, setSent] = useState<Sent | undefined>(undefined);
  const known = delivery.value;
  // Every load brings the newest attempts; older ones load on demand. Attempts that were loaded once are kept.
  const seen = useMemo(() => new Map<number, Attempt>(), [id]);
  for (const attempt of known?.attempts ?? []) seen.set(attempt.number, attempt);
  const [older, setOlder] = useState<{ id: string; cursor: string | null } | undefined>(undefined);
  const olderCursor = older?.id === id ? older.cursor : (known?.attemptsNextCursor ?? null);
  const latest = known?.attempts.at(-1)?.number ?? 0;

  const again = () =>
    action.run(async () => {
      await redeliver(endpointId, id);
      setSent({ what: 'Redelivery', before: new Map([[id, latest]]) });
    });

  const showOlder = (cursor: string) =>
    action.run(async () => {
      const { data, nextCursor } = await listAttempts(endpointId, id, cursor);
      for (const attempt of data) seen.set(attempt.number, attempt);
      setOlder({ id, cursor: nextCursor });
    });

  return (
    <Page
      title={known?.eventType ?? 'Delivery'}
      above={{ title: endpoint.value?.name ?? 'Endpoint', href: places.endpoint(endpointId) }}
      live={[delivery]}
      beside={known && <DeliveryBadge delivery={known} />}
      actions={
        known && (
          <button type="button" class="primary" disabled={action.busy} onClick={() => void again()}>
            Redeliver
          </button>
        )
      }
    >
      <ProblemBox problem={action.problem} focus />
      <Sending endpointId={endpointId} sent={sent} onSettled={delivery.refresh} onDismiss={() => setSent(undefined)} />
      {known && <Facts delivery={known} url={endpoint.value?.url} />}
      {known && (
        <section aria-labelledby="attempts">
          <h2 id="attempts">{latest === 1 ? '1 attempt' : `${latest} attempts`}</h2>
          {latest === 0 && (
            <p class="soft">
              {known.status === 'skipped'
                ? 'Not sent: the endpoint was disabled. It can be recovered, or redelivered.'
                : 'The first attempt is made when its turn comes.'}
            </p>
          )}
          {[...seen.values()]
            .toSorted((a, b) => b.number - a.number)
            .map((attempt, index) => (
              <AttemptBox key={attempt.number} attempt={attempt} open={index === 0} />
            ))}
          {olderCursor !== null && (
            <button type="button" disabled={action.busy} onClick={() => void showOlder(olderCursor)}>
              Older attempts
            </button>
          )}
        </section>
      )}
      {known && (
        <section aria-labelledby="body">
          <h2 id="body">Payload</h2>
          <BodyText what="payload" text={known.requestBody} truncated={known.requestBodyTruncated} />
        </section>
      )}
    </Page>
  );
}

function Facts({ delivery, url }: { delivery: DeliveryRecord; url: string | undefined }) {
  const { eventId, createdAt, subject, subjectNumber, customerName, requestId } = delivery;
  const next = nextTry(delivery);
  return (
    <dl class="facts">
      {url !== undefined && (
        <div class="whole">
          <dt>Endpoint</dt>
          <dd>
            <code>{url}</code>
          </dd>
        </div>
      )}
      <div class="whole">
        <dt>Event id, the header webhook-id</dt>
        <dd>
          <code>{eventId}</code> <CopyButton text={eventId} what="event id" />
        </dd>
      </div>
      {requestId && (
        <div class="whole">
          <dt>Caused by the request</dt>
          <dd>
            <code>{requestId}</code> <CopyButton text={requestId} what="request id" />
          </dd>
        </div>
      )}
      {customerName !== null && (
        <div>
          <dt>Customer</dt>
          <dd>{customerName}</dd>
        </div>
      )}
      {subject !== eventId && (
        <div>
          <dt>Subject</dt>
          <dd>{subjectNumber ?? <code>{subject}</code>}</dd>
        </div>
      )}
      <div>
        <dt>Happened</dt>
        <dd>
          <Time at={createdAt} />
        </dd>
      </div>
      {next !== undefined && (
        <div>
          <dt>Next attempt</dt>
          <dd>
            <Time at={next} />
          </dd>
        </div>
      )}
    </dl>
  );
}

function AttemptBox({ attempt, open }: { attempt: Attempt; open: boolean }) {
  const { number, succeeded, startedAt, endedAt, request, response, errorMessage } = attempt;
  return (
    <details class="attempt" open={open}>
      <summary>
        <span class="summary">
          <strong>Attempt {number}</strong>
          <Badge tone={succeeded ? 'good' : 'bad'}>{succeeded ? 'Delivered' : 'Failed'}</Badge>
          <span class="answer">{outcome(attempt)}</span>
          <span class="soft">
            <Time at={startedAt} />
          </span>
        </span>
      </summary>
      <div class="exchange">
        <section aria-label={`Request of attempt ${number}`}>
          <h3>Request</h3>
          <p>
            {request.address === null ? (
              'No connection was made.'
            ) : (
              <>
                Sent to <code>{request.address}</code>
              </>
            )}
          </p>
          <Headers of={request.headers} />
        </section>
        <section aria-label={`Response of attempt ${number}`}>
          <h3>Response</h3>
          {response === null ? (
            <p>None. {reason(attempt)}.</p>
          ) : (
            <>
              <p>
                Status <strong>{response.status}</strong> after {duration(startedAt, endedAt)}
                {errorMessage !== null && `. ${reason(attempt)}.`}
              </p>
              <Headers of={response.headers} />
              <BodyText what={`response body of attempt ${number}`} text={response.body} truncated={response.bodyTruncated} />
            </>
          )}
        </section>
      </div>
    </details>
  );
}

function Headers({ of: headers }: { of: readonly Header[] }) {
  if (headers.length === 0) return <p class="soft">No headers.</p>;
  return (
    <dl class="headers">
      {headers.map(({ name, value }, index) => (
        <div key={index}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
