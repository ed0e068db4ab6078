import { listAuditEvents, listEndpoints } from '../api/integrations.ts';
import type { AuditEvent } from '../api/types.ts';
import { BodyText } from '../parts/body-text.tsx';
import { Breakable } from '../parts/breakable.tsx';
import { Page } from '../parts/page.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { RARELY_MS, useResource } from '../state/resource.ts';
import { places, route } from '../state/route.ts';
import { useStore } from '../state/store.ts';

const KINDS = { USER: 'user', OPERATOR: 'operator', KEY: 'API key' } as const;

const columnsWith = (names: ReadonlyMap<string, string>): readonly Column<AuditEvent>[] => [
  { title: 'When', cell: ({ at }) => <Time at={at} /> },
  {
    title: 'Who',
    cell: ({ actor, address }) => (
      <>
        <a class="name" href={places.audit({ actor: actor.id })}>
          {actor.name}
        </a>
        <span class="soft below">
          {KINDS[actor.kind]}
          {address !== null && ` at ${address}`}
        </span>
      </>
    ),
  },
  {
    title: 'What',
    cell: (event) => {
      const { action, object } = event;
      return (
        <>
          <a class="name" href={places.audit({ action })}>
            <Breakable text={action} />
          </a>
          <span class="soft below" title={object.id}>
            {nameOf(event) ?? names.get(object.id) ?? <Breakable text={`${object.kind}/${object.id}`} />}
          </span>
        </>
      );
    },
  },
  { title: 'Change', cell: (event) => <Change event={event} /> },
];

/** The object's name after the change, or before it was deleted. */
function nameOf({ before, after }: AuditEvent): string | undefined {
  const of = after ?? before ?? {};
  return [of['name'], of['displayName'], of['email'], of['number']].find((name): name is string => typeof name === 'string' && name !== '');
}

function Change({ event: { id, action, before, after, requestId } }: { event: AuditEvent }) {
  return (
    <details>
      <summary>
        Show
        <span class="unseen">
          {' '}
          {action} {id}
        </span>
      </summary>
      {before !== null && (
        <>
          <p class="soft">Before</p>
          <BodyText what="object before the change" text={JSON.stringify(before, null, 2)} />
        </>
      )}
      {after !== null && (
        <>
          <p class="soft">After</p>
          <BodyText what="object after the change" text={JSON.stringify(after, null, 2)} />
        </>
      )}
      {requestId !== null && (
        <p class="soft">
          Request <code>{requestId}</code>
        </p>
      )}
    </details>
  );
}

/** The company's changes and their actors, newest first. Filter and page are in the address. */
export function AuditTrail() {
  const { query } = useStore(route);
  const given = (name: string): string | undefined => query.get(name) ?? undefined;
  const narrowing = { actor: given('actor'), action: given('action') };
  const filter = { ...narrowing, cursor: given('cursor') };
  const events = useResource(`audit ${JSON.stringify(filter)}`, (signal) => listAuditEvents(filter, signal));
  const page = events.value;
  // An action that changes nothing, such as a test, has its object's id alone.
  const unnamed = page?.data.some((event) => event.object.kind === 'webhooks' && nameOf(event) === undefined) ?? false;
  const endpoints = useResource(
    unnamed ? 'endpoints' : 'no endpoints',
    (signal) => (unnamed ? listEndpoints(signal) : Promise.resolve([])),
    undefined,
    undefined,
    RARELY_MS,
  );
  const columns = columnsWith(new Map(endpoints.value?.map(({ id, name }) => [id, name])));
  const shown = [
    ...(narrowing.action === undefined ? [] : [narrowing.action]),
    ...(narrowing.actor === undefined ? [] : [`by ${page?.data[0]?.actor.name ?? narrowing.actor}`]),
  ];
  return (
    <Page title="Audit trail" live={[events]}>
      <p class="lead">Who changed keys, endpoints, users, settings and records of the company, and what the operator called. Kept for 365 days.</p>
      {shown.length > 0 && (
        <p>
          Only changes {shown.join(' ')}. <a href={places.audit()}>Show all</a>
        </p>
      )}
      {page?.data.length === 0 && (
        <div class="empty">
          <p>No changes match.</p>
        </div>
      )}
      {page !== undefined && page.data.length > 0 && <Table caption="Changes, newest first" columns={columns} rows={page.data} rowKey={({ id }) => id} />}
      {page !== undefined && (filter.cursor !== undefined || page.nextCursor !== null) && (
        <nav class="pages" aria-label="Pages of changes">
          {filter.cursor !== undefined && (
            <a class="button" href={places.audit(narrowing)}>
              Newest
            </a>
          )}
          {page.nextCursor !== null && (
            <a class="button" href={places.audit({ ...narrowing, cursor: page.nextCursor })}>
              Older
            </a>
          )}
        </nav>
      )}
    </Page>
  );
}
