import { useState } from 'preact/hooks';
import { deleteEndpoint, listEventTypes, readEndpoint, rotateSecret, sendTest } from '../api/integrations.ts';
import { TEST_EVENT, type Endpoint as EndpointRecord } from '../api/types.ts';
import { EndpointBadge, NewestBadge, OwnerlessBadge, disabledReason } from '../parts/badge.tsx';
import { FilterWords } from '../filter/words.tsx';
import { Breakable } from '../parts/breakable.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { number, thatWait } from '../parts/figures.ts';
import { Page } from '../parts/page.tsx';
import { ProblemBox } from '../parts/problem-box.tsx';
import { SecretOnce } from '../parts/secret-once.tsx';
import { Time } from '../parts/time.tsx';
import { useAction } from '../state/action.ts';
import { announce } from '../state/notice.ts';
import { useResource } from '../state/resource.ts';
import { goInstead, places, route } from '../state/route.ts';
import { useStore } from '../state/store.ts';
import { Deliveries, useDeliveries } from './deliveries.tsx';
import { addressOf, narrowingIn } from './delivery-filters.tsx';
import { Charts, Standing, Trouble, periodIn, useHealth } from './health.tsx';
import { Recover } from './recover.tsx';
import { Sending, type Sent } from './sending.tsx';
import { AskState, StateButtons, type AskedState } from './endpoint-state.tsx';

type Asking = 'rotate' | 'recover' | 'delete' | AskedState | undefined;

export function Endpoint({ id }: { id: string }) {
  const { query } = useStore(route);
  const narrowing = narrowingIn(query);
  const period = periodIn(query.get('period'));
  const endpoint = useResource(`endpoint ${id}`, (signal) => readEndpoint(id, signal), isMoving);
  const series = useHealth(id, period);
  const deliveries = useDeliveries(id, narrowing);
  const types = useResource('event-types', listEventTypes);
  const [testType, setTestType] = useState(TEST_EVENT);
  const [asking, setAsking] = useState<Asking>(undefined);
  const [sent, setSent] = useState<Sent | undefined>(undefined);
  const [secret, setSecret] = useState<string | undefined>(undefined);
  const action = useAction();
  const known = endpoint.value;

  function refresh(): void {
    endpoint.refresh();
    series.refresh();
    deliveries.refresh();
  }

  const test = () =>
    action.run(async () => {
      const { id: deliveryId } = await sendTest(id, testType);
      setSent({ what: 'Test', before: new Map([[deliveryId, 0]]) });
    });

  return (
    <Page
      title={known?.name ?? 'Endpoint'}
      above={{ title: 'Webhook endpoints', href: places.endpoints }}
      live={known === undefined ? [endpoint] : [endpoint, series, deliveries]}
      beside={
        known && (
          <>
            <EndpointBadge endpoint={known} /> {known.ownerless && <OwnerlessBadge />}
          </>
        )
      }
      actions={
        known && (
          <>
            <div class="joined">
              <button type="button" class="primary" disabled={action.busy} onClick={() => void test()}>
                Send a test
              </button>
              <select aria-label="Type of the test event" value={testType} onChange={(event) => setTestType(event.currentTarget.value)}>
                {[TEST_EVENT, ...(types.value ?? []).map(({ type }) => type)].map((type) => (
                  <option key={type} value={type}>
                    {type}
                  </option>
                ))}
              </select>
            </div>
            <button type="button" onClick={() => setAsking('recover')}>
              Recover…
            </button>
            <a class="button" href={places.editEndpoint(id)}>
              Edit
            </a>
            <StateButtons endpoint={known} action={action} onChanged={refresh} onAsk={setAsking} />
            <button type="button" onClick={() => setAsking('rotate')}>
              Rotate secret…
            </button>
            <button type="button" class="danger" onClick={() => setAsking('delete')}>
              Delete…
            </button>
          </>
        )
      }
    >
      <ProblemBox problem={action.problem} focus />
      <Sending endpointId={id} sent={sent} onSettled={refresh} onDismiss={() => setSent(undefined)} />
      {known && <Warnings endpoint={known} />}
      {known?.health && <Standing health={known.health} />}
      {known && <Charts series={series} period={period} href={(each) => places.endpoint(id, { ...addressOf(narrowing), period: each })} />}
      {known && <Deliveries id={id} narrowing={narrowing} page={deliveries} heldBack={known.health?.circuit.state === 'open'} onSent={setSent} />}
      {known && <Facts endpoint={known} />}
      {asking === 'recover' && (
        <Recover
          endpoint={known!}
          onClose={() => {
            setAsking(undefined);
            refresh();
          }}
        />
      )}
      {(asking === 'disable' || asking === 'enable') && (
        <AskState
          endpoint={known!}
          asked={asking}
          onClose={() => {
            setAsking(undefined);
            refresh();
          }}
        />
      )}
      {asking === 'rotate' && (
        <Confirm
          title="Rotate the signing secret?"
          verb="Rotate secret"
          onClose={() => setAsking(undefined)}
          onConfirm={async () => {
            setSecret((await rotateSecret(id)).signingSecret);
            setAsking(undefined);
          }}
        >
          <p>
            A new secret is made and shown once. For 24 hours everything is signed with both, so that your server can change over without refusing anything.
          </p>
        </Confirm>
      )}
      {secret !== undefined && (
        <SecretOnce
          title="The new signing secret"
          what="signing secret"
          value={secret}
          onDone={() => {
            setSecret(undefined);
            announce('The secret was rotated. The former one signs as well for 24 hours.');
          }}
        >
          <p>Let your server accept it within 24 hours, along with the former one.</p>
        </SecretOnce>
      )}
      {asking === 'delete' && (
        <Confirm
          title={`Delete ${known!.name}?`}
          verb="Delete endpoint"
          danger
          onClose={() => setAsking(undefined)}
          onConfirm={async () => {
            const { name } = await deleteEndpoint(id);
            goInstead(places.endpoints);
            announce(`${name} was deleted.`);
          }}
        >
          <p>
            It is removed together with its deliveries{known!.health?.backlog ? `: ${thatWait(known!.health.backlog)} not sent` : ''}. What happens from now on
            is not kept. To stop sending for a while, pause it instead.
          </p>
        </Confirm>
      )}
    </Page>
  );
}

export function isMoving({ lastDeliveryStatus, health }: EndpointRecord): boolean {
  return lastDeliveryStatus === 'pending' || (health != null && (health.backlog > 0 || health.circuit.state !== 'closed'));
}

function Warnings({ endpoint }: { endpoint: EndpointRecord }) {
  const { createdBy, ownerless, state, health, alertEmails } = endpoint;
  const reason = disabledReason(endpoint);
  return (
    <>
      {state === 'ENABLED' && health && <Trouble health={health} />}
      {state === 'PAUSED' && (
        <p class="warning">
          <strong>This endpoint is paused.</strong> Events wait for it and are sent once it is resumed. Those that have waited for five days are skipped.
        </p>
      )}
      {reason !== undefined && (
        <p class="problem">
          <strong>Truckroll has disabled this endpoint.</strong> {reason} Once it is fixed, enable it and send what was skipped.
        </p>
      )}
      {ownerless && (
        <p class="warning">
          <strong>The owner of this endpoint has left.</strong> {createdBy.displayName} is no longer in the company
          {alertEmails.length === 0
            ? ', and no one gets e-mails about it. Edit it, and add addresses for alerts.'
            : '. E-mails about it go to the addresses below.'}
        </p>
      )}
    </>
  );
}

function Facts({
  endpoint: { url, eventTypes, filter, maxPerSecond, headers, alertEmails, createdAt, createdBy, updatedAt, lastDeliveryAt, lastDeliveryStatus, expiresAt },
}: {
  endpoint: EndpointRecord;
}) {
  return (
    <section aria-labelledby="settings">
      <h2 id="settings">Settings</h2>
      <dl class="facts">
        <div class="whole">
          <dt>URL</dt>
          <dd>
            <code>{url}</code>
          </dd>
        </div>
        <div class="whole">
          <dt>Events</dt>
          <dd>
            <ul class="types">
              {eventTypes.map((type) => (
                <li key={type}>
                  <code>
                    <Breakable text={type} />
                  </code>
                </li>
              ))}
            </ul>
          </dd>
        </div>
        <div class="whole">
          <dt>Filter</dt>
          <dd>{filter === null ? <span class="soft">None: every event of these types is sent.</span> : <FilterWords filter={filter} types={eventTypes} />}</dd>
        </div>
        <div>
          <dt>Rate limit</dt>
          <dd>{maxPerSecond === null ? <span class="soft">None</span> : `${number(maxPerSecond)} a second`}</dd>
        </div>
        <div>
          <dt>Headers</dt>
          <dd>
            {headers.length === 0 ? (
              <span class="soft">None</span>
            ) : (
              <ul class="types">
                {headers.map(({ name }) => (
                  <li key={name}>
                    <code>{name}</code>
                  </li>
                ))}
              </ul>
            )}
          </dd>
        </div>
        <div>
          <dt>Alerts by e-mail</dt>
          <dd>
            {alertEmails.length === 0 ? (
              <span class="soft">To no one</span>
            ) : (
              <ul class="plain">
                {alertEmails.map((address) => (
                  <li key={address}>{address}</li>
                ))}
              </ul>
            )}
          </dd>
        </div>
        <div>
          <dt>Newest event</dt>
          <dd>
            {lastDeliveryStatus === null ? <span class="soft">None yet</span> : <NewestBadge status={lastDeliveryStatus} at={lastDeliveryAt} />}{' '}
            {lastDeliveryAt !== null && <Time at={lastDeliveryAt} />}
          </dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>
            <Time at={createdAt} /> by <span title={createdBy.email}>{createdBy.displayName}</span>
          </dd>
        </div>
        <div>
          <dt>Changed</dt>
          <dd>
            <Time at={updatedAt} />
          </dd>
        </div>
        {expiresAt !== null && (
          <div>
            <dt>Removed</dt>
            <dd>
              <Time at={expiresAt} />, by itself
            </dd>
          </div>
        )}
      </dl>
    </section>
  );
}
