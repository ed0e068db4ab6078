// Erases people from one service: an rpc for operators, and a task of the catch-up engine that looks through what is stored, again and again
// until a whole round finds nothing that shows the person.
import type { ErasureServiceService, PersonErasure } from '@truckroll/contract/gen/records/v1/erasures';
import type { Handlers } from '@truckroll/grpc';
import type { ErasedPerson } from '@truckroll/outbox';
import { notFreezing, type Queryable, type Transaction } from '@truckroll/postgres';
import { ADMITTED, anyOlder } from './admitted.ts';
import type { ErasureOptions, PersonStep } from './options.ts';
import { personOf } from './request.ts';

/** `runner` is of `eraseNext`; `learn` has the service look for erasures that integrations has begun. */
export function people(
  { database, people: own }: ErasureOptions,
  runner: { look(): void },
  learn: () => void,
): Pick<Handlers<typeof ErasureServiceService>, 'getPerson'> {
  return {
    async getPerson(request) {
      const person = personOf(request);
      const company = database.of(person.companyId);
      const erasure = await stateOf(company, person);
      if (erasure !== null && erasure.ended_at == null) runner.look();
      // The operator may have requested another erasure since.
      else learn();
      const known = await own.find?.(company, person);
      return { name: known?.name, erasure, known_by: [...(known?.knownBy ?? [])] };
    },
  };
}

async function stateOf(db: Queryable, { companyId, kind, id }: ErasedPerson): Promise<PersonErasure | null> {
  const { rows } = await db.query<Omit<PersonErasure, 'changed'> & { changed: Record<string, number> }>({
    name: 'erasure_of_person',
    text: `select begun_at, ended_at, asked_at, changed, case
        when ended_at is not null then null
        when changed_at < now() - ${ADMITTED} and ${anyOlder('changed_at')} then 'a transaction of its database role that began before its last change'
        else 'other work that changes its table ' || waits_in end as waits_for
      from erased_people where company_id = $1 and kind = $2 and id = $3`,
    values: [companyId, kind, id],
  });
  const [row] = rows;
  return row === undefined ? null : { ...row, changed: Object.entries(row.changed).map(([table, count]) => ({ table, rows: count })) };
}

/** Does the next step of each erasure. Returns false if nothing can be done at the moment. */
export async function eraseNext({ database, people: { steps, ofUsers = [] }, restored, lock }: ErasureOptions): Promise<boolean> {
  const letters = deadLetters(restored.groups);
  const { rows } = await database.query<{ company_id: string; kind: string; id: string }>({
    name: 'people_to_erase',
    text: `select company_id, kind, id from erased_people where ended_at is null and ${notFreezing('erased_people.company_id')} order by begun_at limit 1000`,
  });
  let more = false;
  const failures: unknown[] = [];
  for (const { company_id: companyId, kind, id } of rows) {
    const person = { companyId, kind, id };
    try {
      if (await database.transaction((tx) => eraseOf(tx, [...(kind === 'users' ? ofUsers : steps), letters], person, lock), { retryContention: true }))
        more = true;
    } catch (error) {
      // One person's fault keeps no other one waiting.
      failures.push(error);
    }
  }
  if (!more && failures.length > 0) throw failures[0];
  return more;
}

async function eraseOf(tx: Transaction, steps: readonly PersonStep[], person: ErasedPerson, lock: ErasureOptions['lock']): Promise<boolean> {
  const key = [person.companyId, person.kind, person.id];
  // Before the person's row: a service that learns of another request takes them in this order.
  await lock?.(tx, person.companyId);
  const { rows } = await tx.query<{ step: number; after: string | null; final: boolean }>({
    name: 'hold_person_to_erase',
    text: `select step, after, last and changed_at < round_at as final from erased_people where company_id = $1 and kind = $2 and id = $3 and ended_at is null
      for no key update skip locked`,
    values: key,
  });
  const [at] = rows;
  if (at === undefined) return false;
  const step = steps[at.step];
  if (step === undefined) return await endRound(tx, key);
  const { once = false } = step;
  const { changed, waits = false, after } = once && !at.final ? { changed: 0, after: null } : await step.next(tx, person, at.after);
  await tx.query({
    name: 'note_step_of_erasure',
    text: `update erased_people set step = $4, after = $5, changed_at = case when $6::boolean then clock_timestamp() else changed_at end,
        waits_in = case when $9::boolean then $7 else waits_in end,
        changed = case when $8::bigint = 0 then changed
          else changed || jsonb_build_object($7::text, coalesce((changed ->> $7)::bigint, 0) + $8::bigint) end
      where company_id = $1 and kind = $2 and id = $3`,
    values: [...key, after === null ? at.step + 1 : at.step, after, !once && (waits || changed > 0), step.table, changed, waits],
  });
  return true;
}

/**
 * A round is over. The erasure ends with one that found nothing and began some time after the last change, when no transaction of before was
 * left that could have stored the name again.
 */
async function endRound(tx: Transaction, key: readonly string[]): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'end_erasure_of_person',
    text: `update erased_people set ended_at = now() where company_id = $1 and kind = $2 and id = $3 and last and changed_at < round_at`,
    values: key,
  });
  if (rowCount > 0) return false;
  const begun = await tx.query({
    name: 'begin_last_round_of_erasure',
    text: `update erased_people set step = 0, after = null, round_at = now(), last = true, waits_in = null
      where company_id = $1 and kind = $2 and id = $3 and changed_at < now() - ${ADMITTED} and not ${anyOlder('changed_at')}`,
    values: key,
  });
  return begun.rowCount > 0;
}

/** Removes dead letters of state that show the person and that a later message of the same key has replaced. The others are the operator's to retry. */
function deadLetters(groups: ErasureOptions['restored']['groups']): PersonStep {
  const topics = groups.flatMap((group) => group.topics.flatMap(({ name, keeps }) => (keeps === 'latest' ? [name] : [])));
  return {
    table: 'parked_event',
    async next(tx, { companyId, id }) {
      const { rowCount } = await tx.query({
        name: 'forget_dead_letters_with_person',
        text: `delete from parked_event p
          where headers ->> 'companyId' = $1::text and topic = any($2::text[]) and position($3::bytea in payload) > 0 and exists (
            select from inbox_version v where v.consumer = p.consumer and v.topic = p.topic and v.key = p.key
              and v.version > (p.headers ->> 'version')::bigint)`,
        values: [companyId, topics, Buffer.from(id)],
      });
      return { changed: rowCount, after: null };
    },
  };
}
