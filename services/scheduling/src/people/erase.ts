// Erases a person (docs/adr/0024): the record, through the store of records, so that names, searches, the feed and derived fields follow;
// then what was copied from it.
import { codec, now, shapeNamed, type Shape } from '@truckroll/contract';
import { Interaction, InteractionDirection } from '@truckroll/contract/gen/scheduling/v1/interactions';
import type { KnownPerson, PersonStep } from '@truckroll/erasure';
import { ERASED_PERSON, type ErasedPerson } from '@truckroll/outbox';
import { binaryArrays, type Queryable } from '@truckroll/postgres';
import { endOfPage, referencesToPeople, upsertRecords, withoutNamesOf, type Table } from '@truckroll/record-store';
import { withOneName } from '../notifications/text.ts';
import { tables } from '../resources/index.ts';
import { ERASED, erased, knownBy } from './erased.ts';

const INTERACTION = shapeNamed('truckroll.scheduling.v1.Interaction');
const SERVICE_REQUEST = shapeNamed('truckroll.scheduling.v1.ServiceRequest');
/** No request has this fingerprint, so repeating one is answered with 409. */
const NO_FINGERPRINT = Buffer.alloc(0);
/** Answers that one transaction looks at. */
const ANSWERS = 500;
const UUID_LENGTH = 36;

type ErasedRecord = { id: string; name: string; updated_at: number };

function tableOf(kind: string): Table<ErasedRecord> {
  return tables.find(({ path }) => path === kind) as Table<ErasedRecord>;
}

async function read(db: Queryable, { companyId, kind, id }: ErasedPerson, hold = false): Promise<ErasedRecord | undefined> {
  const { table, resource } = tableOf(kind);
  const { rows } = await db.query<{ document: Buffer }>({
    name: `${hold ? 'hold' : 'read'}_person_in_${table}`,
    text: `select document from ${table} where company_id = $1 and id = $2${hold ? ' for no key update' : ''}`,
    values: [companyId, id],
  });
  return rows[0] && (codec(resource.record.typeName).decode(rows[0].document) as ErasedRecord);
}

/** The name, and all that texts may name the person by. Undefined if scheduling has no such record. */
export async function findPerson(db: Queryable, person: ErasedPerson): Promise<KnownPerson | undefined> {
  const record = person.kind in ERASED ? await read(db, person) : undefined;
  return record && { name: record.name, knownBy: knownBy(record) };
}

const ownRecord: PersonStep = {
  table: 'record',
  async next(tx, person) {
    const record = await read(tx, person, true);
    const without = record && erased(record, person.kind as keyof typeof ERASED, now());
    if (without !== undefined) await upsertRecords(tx, tableOf(person.kind), person.companyId, [without]);
    return { changed: without === undefined ? 0 : 1, after: null };
  },
};

interface Recorded {
  id: string;
  document: Buffer;
  fingerprint: Buffer | null;
  recorded: Buffer | null;
}

/** Service requests and interactions, and the answers that a repeated recording gets. */
function recordings(
  table: 'service_requests' | 'interactions',
  shape: Shape,
  rewritten: (document: Buffer, row: Recorded, kind: string) => Buffer,
): PersonStep {
  return {
    table,
    async next(tx, { companyId, kind, id }, after) {
      const end = await endOfPage(tx, table, companyId, after);
      const { rows } = await tx.query<Recorded>({
        name: `recorded_of_person_${table}`,
        text: `select id, document, fingerprint, recorded from ${table}
          where company_id = $1 and ($2::uuid is null or id > $2) and ($3::uuid is null or id <= $3)
            and (position($4::bytea in document) > 0 or position($4::bytea in coalesce(recorded, '')) > 0)
          order by id for no key update`,
        values: [companyId, after, end, Buffer.from(id)],
      });
      const people = new Set([`${kind}/${id}`]);
      let changed = 0;
      for (const row of rows) {
        const without = (document: Buffer): Buffer => rewritten(withoutNamesOf(people, shape, document)?.document ?? document, row, kind);
        const [document, answer] = [without(row.document), row.recorded && without(row.recorded)];
        if (document.equals(row.document) && (answer === null || row.recorded?.equals(answer))) continue;
        await tx.query({
          name: `erase_person_in_${table}`,
          text: `update ${table} set document = $3, recorded = $4, fingerprint = case when fingerprint is null then null else $5::bytea end
            where company_id = $1 and id = $2`,
          values: [companyId, row.id, document, answer, NO_FINGERPRINT],
        });
        changed++;
      }
      return { changed, after: end };
    },
  };
}

/** What a notification said is the summary of its interaction, which has no fingerprint. */
function withoutMessage(document: Buffer, { fingerprint }: Pick<Recorded, 'fingerprint'>, kind: string): Buffer {
  if (fingerprint !== null || kind === 'team-members') return document;
  const interaction = Interaction.decode(document);
  if (interaction.direction !== InteractionDirection.OUTBOUND || interaction.summary === ERASED_PERSON) return document;
  return Buffer.from(Interaction.encode({ ...interaction, summary: ERASED_PERSON }).finish());
}

/** Messages to customers. Those that are being sent end by themselves. */
const notifications: PersonStep = {
  table: 'notifications',
  async next(tx, { companyId, kind, id }, after) {
    if (kind === 'team-members') return { changed: 0, after: null };
    const column = kind === 'accounts' ? 'account_id' : 'contact_id';
    const end = await endOfPage(tx, 'notifications', companyId, after);
    const page = `company_id = $1 and ${column} = $2 and ($3::uuid is null or id > $3) and ($4::uuid is null or id <= $4)`;
    const values = [companyId, id, after, end];
    const { rowCount } = await tx.query({
      name: `erase_notifications_by_${column}`,
      text: `update notifications set address = case when address is not null then $5 end, message = $5,
          detail = case when status = 'QUEUED' then 'the person was erased' when status = 'SUPPRESSED' or detail is null then detail else $5 end,
          finished_at = coalesce(finished_at, now()), status = case when status = 'QUEUED' then 'SUPPRESSED' else status end
        where ${page} and message <> $5 and status <> 'ATTEMPTING'`,
      values: [...values, ERASED_PERSON],
    });
    const { rowCount: sending } = await tx.query({
      name: `sending_notifications_by_${column}`,
      text: `select from notifications where ${page} and status = 'ATTEMPTING' limit 1`,
      values,
    });
    return { changed: rowCount, waits: sending > 0, after: end };
  },
};

/** Names of team members in messages that the product wrote, and in the interactions that these became. Those that are being sent end by themselves. */
const ownMessages: PersonStep = {
  table: 'notifications',
  async next(tx, { companyId, kind, id }, after) {
    if (kind !== 'team-members') return { changed: 0, after: null };
    const end = await endOfPage(tx, 'notifications', companyId, after);
    const { rows } = await tx.query<{ id: string; status: string; message: string; document: Buffer | null }>({
      name: 'notifications_with_team_member',
      text: `select n.id, n.status, n.message, i.document from notifications n
        left join interactions i on i.company_id = n.company_id and i.id = n.id and i.fingerprint is null
        where n.company_id = $1 and ($3::uuid is null or n.id > $3) and ($4::uuid is null or n.id <= $4)
          and case when n.team_member_ids is not null then $2 = any(n.team_member_ids) else exists (
            select from job_assignments a where a.company_id = $1 and a.appointment_id = n.appointment_id and a.team_member_id = $2) end
        order by n.id for no key update of n`,
      values: [companyId, id, after, end],
    });
    const named = rows.flatMap((row) => {
      const without = withOneName(row.message, ERASED_PERSON);
      return without === row.message ? [] : [{ ...row, without }];
    });
    const over = named.filter(({ status }) => status !== 'ATTEMPTING');
    if (over.length > 0) {
      await tx.query({
        name: 'erase_team_member_in_notifications',
        text: `update notifications n set message = g.message from unnest($2::uuid[], $3::text[]) g (id, message)
          where n.company_id = $1 and n.id = any($2::uuid[]) and n.id = g.id`,
        values: [companyId, over.map((row) => row.id), over.map(({ without }) => without)],
      });
    }
    const recorded = over.flatMap(({ id: of, document, without }) =>
      document === null ? [] : [{ id: of, document: Buffer.from(Interaction.encode({ ...Interaction.decode(document), summary: without }).finish()) }],
    );
    if (recorded.length > 0) {
      await tx.query({
        name: 'erase_team_member_in_interactions',
        text: `update interactions i set document = g.document, recorded = g.document from unnest($2::uuid[], $3::bytea[]) g (id, document)
          where i.company_id = $1 and i.id = any($2::uuid[]) and i.id = g.id`,
        values: [companyId, recorded.map((row) => row.id), binaryArrays.bytea(recorded.map((row) => row.document))],
      });
    }
    return { changed: over.length, waits: over.length < named.length, after: end };
  },
};

/** Answers of writes: the keys stay, so that a repeated write is refused and does not happen again. */
const answers: PersonStep = {
  table: 'idempotency_keys',
  async next(tx, { companyId, id }, after) {
    const from = after === null ? [null, null] : [after.slice(0, UUID_LENGTH), after.slice(UUID_LENGTH)];
    const { rows } = await tx.query<{ user_id: string; key: string }>({
      name: 'page_of_answers',
      text: `select user_id, key from idempotency_keys where company_id = $1 and ($2::uuid is null or (user_id, key) > ($2::uuid, $3::text))
        order by user_id, key offset ${ANSWERS} limit 1`,
      values: [companyId, ...from],
    });
    const [end] = rows;
    const { rowCount } = await tx.query({
      name: 'forget_answers_with_person',
      text: `update idempotency_keys set fingerprint = $7, response = ''
        where company_id = $1 and ($2::uuid is null or (user_id, key) > ($2::uuid, $3::text))
          and ($4::uuid is null or (user_id, key) <= ($4::uuid, $5::text)) and position($6::bytea in response) > 0`,
      values: [companyId, ...from, end?.user_id ?? null, end?.key ?? null, Buffer.from(id), NO_FINGERPRINT],
    });
    return { changed: rowCount, after: end === undefined ? null : `${end.user_id}${end.key}` };
  },
};

export const personSteps: readonly PersonStep[] = [
  ownRecord,
  ...referencesToPeople(tables),
  recordings('service_requests', SERVICE_REQUEST, (document) => document),
  recordings('interactions', INTERACTION, withoutMessage),
  notifications,
  ownMessages,
  answers,
];
