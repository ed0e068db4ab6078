import type { Account, Interaction, Invoice, Job, Payment, Visit } from '../../api/business.ts';
import type { Listed } from '../../api/reports.ts';
import { dollars } from '../../parts/money.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { methodName, titleCase } from '../../parts/words.ts';
import type { Resource } from '../../state/resource.ts';
import { places } from '../../state/route.ts';
import { visitStatus } from '../records/badges.tsx';
import { Timeline, type Happening } from '../records/document.tsx';

interface Lists {
  jobs: Resource<Listed<Job>>;
  visits: Resource<Listed<Visit>>;
  invoices: Resource<Listed<Invoice>>;
  payments: Resource<Listed<Payment>>;
  interactions: Resource<Listed<Interaction>>;
}

const NAMES: Readonly<Record<keyof Lists, string>> = {
  jobs: 'jobs',
  visits: 'visits',
  invoices: 'invoices',
  payments: 'payments',
  interactions: 'calls and messages',
};

/** What happened with a customer until `now`. It waits for every list, because a missing one does not show. */
export function History({ account, lists, now }: { account: Account | undefined; lists: Lists; now: string }) {
  const names = (wanted: (list: Resource<Listed<unknown>>) => boolean): string =>
    Object.entries(NAMES)
      .filter(([key]) => wanted(lists[key as keyof Lists]))
      .map(([, name]) => name)
      .join(', ');
  const away = names(({ problem }) => problem !== undefined);
  const cut = names(({ value }) => value?.more === true);
  const known = account !== undefined && names(({ value }) => value === undefined) === '';
  return (
    <Timeline of={known ? happenings(account, lists, now) : []}>
      {away !== '' && (
        <p class="warning">
          {known ? 'This may lack what is new' : 'This is not shown'}, because these could not be loaded: {away}.
        </p>
      )}
      {known && cut !== '' && <p class="warning">This is a part of what happened: there are more {cut} than were read.</p>}
      {!known && away === '' && <Skeleton />}
    </Timeline>
  );
}

function happenings(account: Account, lists: Lists, now: string): Happening[] {
  const of = <T,>({ value }: Resource<Listed<T>>): readonly T[] => value?.records ?? [];
  const all: Happening[] = [
    ...of(lists.jobs).map(({ id, number, summary, job_type: type, created_at: at }) => ({
      at,
      what: (
        <>
          <a href={places.record('jobs', id)}>Job {number}</a> {summary ?? type?.name}
        </>
      ),
    })),
    ...of(lists.visits).map((visit) => ({
      at: visit.starts_at,
      what: (
        <>
          <a href={places.record('visits', visit.id)}>Visit {visit.number}</a> {visitStatus(visit)[1].toLowerCase()}
          {visit.assignments.length > 0 && <span class="soft below">{visit.assignments.map(({ team_member: { name } }) => name).join(', ')}</span>}
        </>
      ),
    })),
    ...of(lists.invoices).map(({ id, number, issued_at: at, amounts }) => ({
      at,
      day: true,
      what: (
        <>
          <a href={places.record('invoices', id)}>Invoice {number}</a> of {dollars(amounts.total_cents)}
        </>
      ),
    })),
    ...of(lists.payments).map(({ id, occurred_at: at, method, status, amount_cents: cents }) => ({
      at,
      what: (
        <>
          <a href={places.record('payments', id)}>Payment</a> of {dollars(cents)}, {methodName(method)}
          {status !== null && status !== 'PAID' && `, ${titleCase(status).toLowerCase()}`}
        </>
      ),
    })),
    ...of(lists.interactions).map((each) => ({
      at: each.started_at,
      what: (
        <>
          {spokenOf(each)} {each.summary !== null && <span class="soft below">{each.summary}</span>}
        </>
      ),
    })),
    { at: account.created_at, what: 'Became a customer', day: true },
  ];
  return all.filter(({ at }) => at !== null && at <= now);
}

const CHANNELS: Readonly<Record<string, string>> = { CALL: 'Call', SMS: 'Text message', EMAIL: 'E-mail', CHAT: 'Chat' };

/** "Call from Marisol Núñez, answered by Dana Whitfield" */
export function spokenOf({ channel, direction, contact, handled_by: by }: Interaction): string {
  const inbound = direction === 'INBOUND';
  const what = `${CHANNELS[channel] ?? titleCase(channel)} ${inbound ? 'from' : 'to'} ${contact?.name ?? 'the customer'}`;
  return by === null ? what : `${what}, ${inbound ? 'answered by' : 'by'} ${by.name}`;
}
