import { createHash } from 'node:crypto';
import { ApiError, now, refused } from '@truckroll/contract';
import { RecordInteractionRequest, type CompleteInteractionRequest } from '@truckroll/contract/gen/scheduling/v1/intake';
import { Interaction, InteractionStatus } from '@truckroll/contract/gen/scheduling/v1/interactions';
import { append, refuseErased } from '@truckroll/outbox';
import type { Queryable, Transaction } from '@truckroll/postgres';
import { interactionCompleted } from './events.ts';
import type { IntakeServices } from './services.ts';
import { referencesTo, requireRecords, withLatestNames } from './references.ts';
import { checked } from './requests.ts';
import { conflict, taken } from './states.ts';
import { interactions } from './tables.ts';

interface Answer {
  interaction: Interaction;
}

/** Returns the interaction as first recorded. Errors: 400; 409 if the id was used for a different one. */
export async function recordInteraction({ database, poke }: IntakeServices, asked: RecordInteractionRequest): Promise<Answer> {
  const request = checked('RecordInteractionRequest', asked);
  const { company_id: companyId, id, channel, direction, outcome, summary, service_request_id, job_id } = request;
  const fingerprint = createHash('sha256').update(RecordInteractionRequest.encode(request).finish()).digest();
  const interaction = await database.of(companyId).transaction(async (tx) => {
    const known = await recorded(tx, companyId, id, fingerprint);
    if (known !== undefined) return known;
    const { account_id: account, contact_id: contact, handled_by_id: handled_by } = request;
    const references = await referencesTo(tx, companyId, { account, contact, handled_by });
    await requireRecords(tx, companyId, { job_id, service_request_id });
    await refuseErased(tx, companyId);
    const begun: Interaction = {
      id,
      channel,
      direction,
      status: InteractionStatus.IN_PROGRESS,
      outcome,
      ...references,
      started_at: request.started_at ?? request.ended_at ?? now(),
      summary,
      service_request_id,
      job_id,
    };
    const record = request.ended_at == null ? begun : ended(begun, request.ended_at);
    if (await insertInteraction(tx, companyId, record, fingerprint)) return record;
    // A concurrent request recorded it, and its transaction has ended: otherwise this insert would still be waiting.
    return (await recorded(tx, companyId, id, fingerprint)) as Interaction;
  });
  poke();
  return { interaction };
}

/** Returns the completed interaction. Completing it again in the same way changes nothing. Errors: 400, 404, 409. */
export async function completeInteraction({ database, poke }: IntakeServices, asked: CompleteInteractionRequest): Promise<Answer> {
  const { company_id: companyId, id, outcome, summary, ended_at } = checked('CompleteInteractionRequest', asked);
  const interaction = await database.of(companyId).transaction(async (tx) => {
    const found = await readInteraction(tx, companyId, id, true);
    if (found === undefined) throw ApiError.notFound('interaction');
    if (found.status === InteractionStatus.COMPLETED) {
      const given = Object.entries({ outcome, summary, ended_at }).filter(([, value]) => value != null);
      if (given.every(([field, value]) => found[field as keyof Interaction] === value)) return found;
      throw conflict('The interaction is COMPLETED, which is final, and ended differently.');
    }
    const latest = await withLatestNames(tx, companyId, found);
    const record = ended({ ...latest, outcome: outcome ?? found.outcome, summary: summary ?? found.summary }, ended_at ?? Math.max(now(), found.started_at));
    await tx.query({
      name: 'complete_interaction',
      text: `update interactions set document = $3, event_sequence = 1, status = $4, created_at = $5, account_id = $6, projection = ${interactions.version}
        where company_id = $1 and id = $2`,
      values: [companyId, id, Buffer.from(Interaction.encode(record).finish()), ...listed(record)],
    });
    await append(tx, [interactionCompleted(companyId, record, now())]);
    return record;
  });
  poke();
  return { interaction };
}

/** Values of the columns status, created_at and account_id. */
function listed(record: Interaction): unknown[] {
  const { status, created_at, account_id } = interactions.of(record);
  return [status, created_at, account_id];
}

/**
 * Stores an interaction, with its event if it is completed. `people` are the ids of team members that the summary names. False if the
 * interaction's id exists, whose interaction stays unchanged.
 */
export async function insertInteraction(
  tx: Transaction,
  companyId: string,
  record: Interaction,
  fingerprint: Buffer | null,
  people: readonly string[] = [],
): Promise<boolean> {
  const completed = record.status === InteractionStatus.COMPLETED;
  const { rowCount } = await tx.query({
    name: 'insert_interaction',
    text: `insert into interactions (company_id, id, event_sequence, document, fingerprint, recorded, status, created_at, account_id, projection)
      values ($1, $2, $3, $4, $5, $4, $6, $7, $8, ${interactions.version}) on conflict do nothing`,
    values: [companyId, record.id, completed ? 1 : 0, Buffer.from(Interaction.encode(record).finish()), fingerprint, ...listed(record)],
  });
  if (rowCount === 1 && completed) await append(tx, [{ ...interactionCompleted(companyId, record, now()), people: people.join(' ') || undefined }]);
  return rowCount === 1;
}

export async function readInteraction(from: Queryable, companyId: string, id: string, hold = false): Promise<Interaction | undefined> {
  const { rows } = await from.query<{ document: Buffer }>({
    name: hold ? 'hold_interaction' : 'read_interaction',
    text: `select document from interactions where company_id = $1 and id = $2${hold ? ' for no key update' : ''}`,
    values: [companyId, id],
  });
  return rows[0] && Interaction.decode(rows[0].document);
}

async function recorded(tx: Queryable, companyId: string, id: string, fingerprint: Buffer): Promise<Interaction | undefined> {
  const { rows } = await tx.query<{ fingerprint: Buffer | null; recorded: Buffer }>({
    name: 'recorded_interaction',
    text: 'select fingerprint, recorded from interactions where company_id = $1 and id = $2',
    values: [companyId, id],
  });
  const [row] = rows;
  if (row !== undefined && row.fingerprint?.equals(fingerprint) !== true) throw taken('interaction');
  return row && Interaction.decode(row.recorded);
}

/** Errors: 400 for an end before the beginning. */
function ended(interaction: Interaction, at: number): Interaction {
  if (at < interaction.started_at) throw refused('ended_at', 'Give an end that is not before the beginning.', 'RANGE_ORDER');
  const duration_seconds = Math.floor((at - interaction.started_at) / 1_000_000);
  return { ...interaction, status: InteractionStatus.COMPLETED, ended_at: at, duration_seconds };
}
