// Recording service requests that come at the same time as one: a transaction, a statement and a commit, of which each call
// alone needs as many.
import type { ServiceRequest } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { appendingRows, type MadeColumns } from '@truckroll/outbox';
import { CompaniesAbout, Places, StatementError, binaryArrays, gather, type Database, type Statement } from '@truckroll/service-kit';

const { bytes, text, uuid } = binaryArrays;

/** A service request that is to be recorded, but for its number. */
export interface Recording {
  readonly companyId: string;
  readonly id: string;
  /** Of the document, what stands before and after the number. */
  readonly before: Buffer;
  readonly after: Buffer;
  readonly fingerprint: Buffer;
  /** Of its event: what stands before the document, and what is stored with it. */
  readonly head: Buffer;
  readonly event: MadeColumns;
}

/** What became of one: its number, or the recording that was there before. */
export type Recorded = { readonly number: NonNullable<ServiceRequest['number']> } | { readonly fingerprint: Buffer; readonly recorded: Buffer };

/**
 * Of one batch; and of one company in it, alone and while other companies record, so that who sends more is not
 * served before others. Who has to wait for that waits as for a transaction.
 */
const MOST = { all: 64, company: 32, companyBeside: 2 };
const WAITING = { queue: 100, patienceMs: 5000 };

/**
 * Records together with what others record meanwhile. Undefined where that cannot be done without waiting for somebody, or failed for the sake
 * of another: then it is to be recorded alone. Errors: 429 where too much of the company waits; 503.
 */
export function recordTogether(database: Database): (recording: Recording) => Promise<Recorded | undefined> {
  const places = new Places({ places: MOST.all, share: MOST.company, shareBeside: MOST.companyBeside, about: new CompaniesAbout(), ...WAITING });
  const together = gather<Recording, Recorded | undefined>(
    () => 1 / MOST.all,
    (recordings) => recordAll(database, recordings),
  );
  return async (recording) => {
    const turn = places.enter(recording.companyId);
    if (turn !== undefined) await turn;
    try {
      return await together(recording);
    } finally {
      places.leave(recording.companyId);
    }
  };
}

async function recordAll(database: Database, recordings: readonly Recording[]): Promise<(Recorded | undefined)[]> {
  // A repetition that comes at once finds what the first one has recorded when it is alone.
  const known = new Set<string>();
  const chosen = recordings.filter(({ companyId, id }) => known.size < known.add(`${companyId} ${id}`).size);
  try {
    const [answer] = await database.transaction((tx) => tx.finish([recording(chosen)]));
    const rows = (answer as { rows: { number: string | null; fingerprint: Buffer | null; recorded: Buffer | null }[] }).rows;
    const outcomes = new Map(
      rows.map(({ number, fingerprint, recorded }, index) => {
        const outcome = number !== null ? { number } : fingerprint !== null && recorded !== null ? { fingerprint, recorded } : undefined;
        return [chosen[index], outcome] as const;
      }),
    );
    return recordings.map((each) => outcomes.get(each));
  } catch (error) {
    if (!(error instanceof StatementError)) throw error;
    return recordings.map(() => undefined);
  }
}

/**
 * Companies whose number somebody else is about to give are left out, and those that have none yet: nothing is waited for here.
 * Numbers have no gaps, and their order is that of the recordings.
 */
function recording(recordings: readonly Recording[]): Statement {
  const of = <T>(pick: (recording: Recording) => T): T[] => recordings.map(pick);
  return {
    name: 'record_service_requests',
    text: `with given as (
        select * from unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::uuid[], $8::text[], $9::text[], $10::text[], $11::text[], $12::uuid[])
          with ordinality g (company_id, id, before, after, fingerprint, head, event_id, topic, key, type, trace, request_id, place)),
      known as (
        select g.place, s.fingerprint, s.recorded from given g join service_requests s on s.company_id = g.company_id and s.id = g.id),
      free as (
        select company_id from service_request_numbers where company_id = any($1::uuid[]) for no key update skip locked),
      fresh as (
        select g.*, row_number() over (partition by g.company_id order by g.place) as turn, count(*) over (partition by g.company_id) as count
        from given g join free f on f.company_id = g.company_id where not exists (select from known k where k.place = g.place)),
      numbered as (
        update service_request_numbers n set latest = n.latest + f.count from fresh f where f.company_id = n.company_id and f.turn = 1
        returning n.company_id, n.latest - f.count as latest_before),
      given_numbers as (
        select f.*, 'SR-' || (n.latest_before + f.turn) as number from fresh f join numbered n on n.company_id = f.company_id),
      record as (
        select *, before || length_delimited(convert_to(number, 'UTF8')) || after as document from given_numbers),
      stored as (
        insert into service_requests (company_id, id, event_sequence, document, fingerprint, recorded)
        select company_id, id, 1, document, fingerprint, document from record),
      events as (select *, 1 as sequence, head || length_delimited(document) as payload from record),
      appended as (${appendingRows('events', 'place')})
      select r.number, k.fingerprint, k.recorded from given g left join record r on r.place = g.place left join known k on k.place = g.place order by g.place`,
    values: [
      uuid(of(({ companyId }) => companyId)),
      uuid(of(({ id }) => id)),
      bytes(of(({ before }) => before)),
      bytes(of(({ after }) => after)),
      bytes(of(({ fingerprint }) => fingerprint)),
      bytes(of(({ head }) => head)),
      uuid(of(({ event }) => event.event_id)),
      text(of(({ event }) => event.topic)),
      text(of(({ event }) => event.key)),
      text(of(({ event }) => event.type)),
      text(of(({ event }) => event.trace)),
      uuid(of(({ event }) => event.request_id)),
    ],
  };
}
