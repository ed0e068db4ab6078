// Records concurrent service requests together: one transaction, one statement and one commit for all of them.
import { ServiceRequestStatus, type ServiceRequest } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { appendingRows, type MadeColumns } from '@truckroll/outbox';
import { RecentCompanies, StatementError, arrayOf, binaryArrays, type Database, type Statement } from '@truckroll/postgres';
import { FairQueue, gather } from '@truckroll/process';
import { serviceRequests } from './tables.ts';

const { bytea, text, uuid } = binaryArrays;

export interface Recording {
  readonly companyId: string;
  readonly id: string;
  /** In microseconds. */
  readonly createdAt: number;
  /** The encoded document before and after the number. */
  readonly before: Buffer;
  readonly after: Buffer;
  readonly fingerprint: Buffer;
  /** The event: its encoding before the document, and its outbox columns. */
  readonly head: Buffer;
  readonly event: MadeColumns;
}

/** The number of a new recording, or the existing recording with that id. */
export type Recorded = { readonly number: NonNullable<ServiceRequest['number']> } | { readonly fingerprint: Buffer; readonly recorded: Buffer };

/** Slots for concurrent recordings: in total, for a company alone, and for a company while others record. Recordings without a slot queue. */
const MOST = { all: 64, company: 32, companyBeside: 2 };
const WAITING = { queue: 100, maxWaitMs: 5000 };

/**
 * Records a request together with concurrent ones. Undefined if that would have to wait for another transaction, or failed because of
 * another request: then it must be recorded alone. Errors: 429 if too many of the company's requests are queued; 503.
 */
export function batchedRecorder(database: Database): (recording: Recording) => Promise<Recorded | undefined> {
  const recent = new RecentCompanies();
  const slots: FairQueue = new FairQueue({
    admits: ({ name, held }) => slots.held < MOST.all && held < (recent.isAnyBut(name) ? MOST.companyBeside : MOST.company),
    ...WAITING,
  });
  const batched = gather<Recording, Recorded | undefined>(
    () => 1 / MOST.all,
    (recordings) => recordAll(database, recordings),
  );
  return async (recording) => {
    recent.note(recording.companyId);
    const turn = slots.enter(recording.companyId);
    if (turn !== undefined) await turn;
    try {
      return await batched(recording);
    } finally {
      slots.leave(recording.companyId);
    }
  };
}

async function recordAll(database: Database, recordings: readonly Recording[]): Promise<(Recorded | undefined)[]> {
  // A duplicate in the batch gets undefined: recorded alone, it then finds the first one's recording.
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

/** Never waits: skips companies whose number row is locked or missing. Numbers have no gaps and follow the order of the recordings. */
function recording(recordings: readonly Recording[]): Statement {
  const of = <T>(pick: (recording: Recording) => T): T[] => recordings.map(pick);
  return {
    name: 'record_service_requests',
    text: `with given as (
        select * from unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::uuid[], $8::text[], $9::text[], $10::text[], $11::text[], $12::uuid[],
          $13::timestamptz[])
          with ordinality g (company_id, id, before, after, fingerprint, head, event_id, topic, key, type, trace, request_id, created_at, ordinal)),
      known as (
        select g.ordinal, s.fingerprint, s.recorded from given g join service_requests s on s.company_id = g.company_id and s.id = g.id),
      free as (
        select company_id from service_request_numbers where company_id = any($1::uuid[]) for no key update skip locked),
      fresh as (
        select g.*, row_number() over (partition by g.company_id order by g.ordinal) as turn, count(*) over (partition by g.company_id) as count
        from given g join free f on f.company_id = g.company_id where not exists (select from known k where k.ordinal = g.ordinal)),
      numbered as (
        update service_request_numbers n set latest = n.latest + f.count from fresh f where f.company_id = n.company_id and f.turn = 1
        returning n.company_id, n.latest - f.count as latest_before),
      given_numbers as (
        select f.*, 'SR-' || (n.latest_before + f.turn) as number from fresh f join numbered n on n.company_id = f.company_id),
      record as (
        select *, before || length_delimited(convert_to(number, 'UTF8')) || after as document from given_numbers),
      stored as (
        insert into service_requests (company_id, id, event_sequence, document, fingerprint, recorded, unbooked, status, created_at, projection)
        select company_id, id, 1, document, fingerprint, document, true, '${ServiceRequestStatus.NEW}', created_at, ${serviceRequests.version} from record),
      events as (select *, 1 as sequence, head || length_delimited(document) as payload from record),
      appended as (${appendingRows('events', 'ordinal')})
      select r.number, k.fingerprint, k.recorded from given g left join record r on r.ordinal = g.ordinal left join known k on k.ordinal = g.ordinal order by g.ordinal`,
    values: [
      uuid(of(({ companyId }) => companyId)),
      uuid(of(({ id }) => id)),
      bytea(of(({ before }) => before)),
      bytea(of(({ after }) => after)),
      bytea(of(({ fingerprint }) => fingerprint)),
      bytea(of(({ head }) => head)),
      uuid(of(({ event }) => event.event_id)),
      text(of(({ event }) => event.topic)),
      text(of(({ event }) => event.key)),
      text(of(({ event }) => event.type)),
      text(of(({ event }) => event.trace)),
      uuid(of(({ event }) => event.request_id)),
      arrayOf(
        'timestamptz',
        of(({ createdAt }) => createdAt),
      ),
    ],
  };
}
