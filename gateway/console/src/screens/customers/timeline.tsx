import type { Account, Interaction, Invoice, Job, Payment, Visit } from '../../api/business.ts';
import { dollars } from '../../parts/money.ts';
import { methodName, titleCase } from '../../parts/words.ts';
import { places } from '../../state/route.ts';
import { visitStatus } from '../records/badges.tsx';
import type { Happening } from '../records/document.tsx';

interface Known {
  account: Account | undefined;
  jobs: readonly Job[];
  visits: readonly Visit[];
  invoices: readonly Invoice[];
  payments: readonly Payment[];
  interactions: readonly Interaction[];
}

/** What happened with a customer until `now`. */
export function happenings({ account, jobs, visits, invoices, payments, interactions }: Known, now: string): Happening[] {
  const all: Happening[] = [
    ...jobs.map(({ id, number, summary, job_type: type, created_at: at }) => ({
      at,
      what: (
        <>
          <a href={places.record('jobs', id)}>Job {number}</a> {summary ?? type?.name}
        </>
      ),
    })),
    ...visits.map((visit) => ({
      at: visit.starts_at,
      what: (
        <>
          <a href={places.record('visits', visit.id)}>Visit {visit.number}</a> {visitStatus(visit)[1].toLowerCase()}
          {visit.assignments.length > 0 && <span class="soft below">{visit.assignments.map(({ team_member: { name } }) => name).join(', ')}</span>}
        </>
      ),
    })),
    ...invoices.map(({ id, number, issued_at: at, amounts }) => ({
      at,
      day: true,
      what: (
        <>
          <a href={places.record('invoices', id)}>Invoice {number}</a> of {dollars(amounts.total_cents)}
        </>
      ),
    })),
    ...payments.map(({ id, occurred_at: at, method, status, amount_cents: cents }) => ({
      at,
      what: (
        <>
          <a href={places.record('payments', id)}>Payment</a> of {dollars(cents)}, {methodName(method)}
          {status !== null && status !== 'PAID' && `, ${titleCase(status).toLowerCase()}`}
        </>
      ),
    })),
    ...interactions.map((each) => ({
      at: each.started_at,
      what: (
        <>
          {spokenOf(each)} {each.summary !== null && <span class="soft below">{each.summary}</span>}
        </>
      ),
    })),
    { at: account?.created_at ?? null, what: 'Became a customer', day: true },
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
