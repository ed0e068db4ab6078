// `truckroll restored`, while nothing else runs: publishes all records again under a new epoch, publishes what no longer exists as
// removed, and moves consumers past everything published before (docs/adr/0007).
import { restored as billing } from '@truckroll/billing/restored';
import { owners, topics, type Owner } from '@truckroll/contract';
import { AuditEntry } from '@truckroll/contract/gen/events/v1/audit';
import { erasuresIn, giveUpMails, leaveAgain, maySendTwice, restored as integrations, type Delivery, type UnknownMail } from '@truckroll/integrations/restored';
import {
  COMPANY_DELETED,
  PERSON_ERASED,
  append,
  beginEpoch,
  beginningsOf,
  currentEpoch,
  endsOf,
  epochOf,
  markErased,
  markPersonErased,
  moveGroup,
  overallOf,
  personKey,
  replay,
  type IncomingEvent,
  type KafkaClient,
  type Offsets,
  type PublishedState,
  type Restored,
  type Topic,
} from '@truckroll/outbox';
import { openFrozen, type Database, type Transaction } from '@truckroll/postgres';
import { lastKnown, restored as reporting, skipTo } from '@truckroll/reporting/restored';
import { giveUpMessages, restored as scheduling, type UnknownMessage } from '@truckroll/scheduling/restored';
import { keysOf, missingKeys, takeWaiting, type Placed } from './outdated.ts';
import { readWindow, type Window } from './window.ts';

const restored: Record<Owner, Restored> = { integrations, scheduling, billing, reporting };
/** In the order in which they are renewed. */
export const SERVICES: readonly Restored[] = owners.map((owner) => restored[owner]);

export type Databases = ReadonlyMap<string, Database>;

export interface Renewing {
  readonly databases: Databases;
  readonly kafka: KafkaClient;
  /** In microseconds, the earliest moment to which a server was restored. Default: the newest that reporting knows, if all share a server. */
  readonly restoredTo?: number | undefined;
  /** Seconds before the restored moment in which published events may not have become deliveries yet. */
  readonly lagSeconds: number;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  /** Called with the number of events read, and the share of all topics read, from 0 to 1. */
  readonly progress: (events: number, share: number) => void;
}

export interface Renewed {
  readonly epoch: number;
  /** The newest time in the database, in microseconds since 1970; undefined if there is none. */
  readonly asOf: number | undefined;
  /** Number of keys published as removed, by topic. */
  readonly removed: Readonly<Record<string, number>>;
  /** Number of events published again, because they had not become deliveries. */
  readonly repeated: number;
  /** Published events that are not part of the restored data. */
  readonly undone: Window['undone'];
  readonly deliveries: readonly Delivery[];
  readonly messages: readonly UnknownMessage[];
  readonly mails: readonly UnknownMail[];
  /** Ids of deleted companies. Services delete them again if the backup contains them. */
  readonly erased: readonly string[];
  /** Number of erased people. Services erase them again if the backup contains them. */
  readonly erasedPeople: number;
  /** Ids of companies that were frozen, or about to be: they can be changed again. */
  readonly frozen: readonly string[];
}

const CHUNK = 500;

export async function renew({ databases, kafka, restoredTo, lagSeconds, signal, say, progress }: Renewing): Promise<Renewed> {
  const of = (service: Restored): Database => databases.get(service.schema)!;
  const states = SERVICES.flatMap((service) => service.states.map((state) => ({ service, state })));
  const all = [...states.map(({ state }) => state.topic), topics.serviceRequests, topics.watermarks, topics.erasures];
  // Nothing is published until the new epoch begins, so these remain the ends of the old events.
  const ends = await endsOf(kafka, all);
  const known = await lastKnown(of(reporting));
  const asOf = restoredTo === undefined || (known !== undefined && known < restoredTo) ? known : restoredTo;
  let newest = 0;
  const overall = overallOf(ends);
  let read = 0;
  const missing = new Map<PublishedState, Set<string>>();
  for (const { service, state } of states) {
    say(`reading ${state.topic.name} …`);
    const gone = new Set<string>();
    const look = async (keys: readonly string[]): Promise<void> => {
      for (const key of await missingKeys(of(service), state, keys)) gone.add(key);
    };
    if (ends.has(state.topic.name)) {
      const shareOfAll = overall(state.topic.name);
      await replay({
        kafka,
        topic: state.topic,
        signal,
        progress: (share) => progress(read, shareOfAll(share)),
        apply: async (events) => {
          read += events.length;
          for (const { version } of events) newest = Math.max(newest, version);
          await look(events.map(({ key }) => key));
        },
      });
    }
    // Read models may hold keys that the topic no longer has, or the topic itself was lost.
    for (const holder of SERVICES) {
      for (const model of holder.readModels) if (model.topic === state.topic) for await (const keys of keysOf(of(holder), model)) await look(keys);
    }
    missing.set(state, gone);
  }
  const erasures: AuditEntry[] = [];
  if (ends.has(topics.erasures.name)) {
    const apply = async (events: readonly IncomingEvent[]): Promise<void> => {
      for (const { payload } of events) if (payload !== null) erasures.push(AuditEntry.decode(payload));
    };
    await replay({ kafka, topic: topics.erasures, signal, progress: () => undefined, apply });
  }
  // Kafka may have lost the topic, and the backup knows the others in the schema of integrations only.
  const entries = [...new Map([...erasures, ...(await erasuresIn(of(integrations)))].map((entry) => [entry.id, entry])).values()];
  const erased = new Set(entries.flatMap(({ action, company_id }) => (action === COMPANY_DELETED ? [company_id] : [])));
  const people = entries.filter(({ action, company_id }) => action === PERSON_ERASED && !erased.has(company_id));
  say(`reading ${topics.serviceRequests.name} …`);
  const since = asOf === undefined ? -Infinity : asOf - lagSeconds * 1e6;
  const shareOfAll = overall(topics.serviceRequests.name);
  const found = ends.has(topics.serviceRequests.name)
    ? await readWindow({
        kafka,
        scheduling: of(scheduling),
        integrations: of(integrations),
        since,
        signal,
        progress: (share) => progress(read, shareOfAll(share)),
      })
    : { repeated: [], undone: [], newest: 0 };
  const window = { ...found, repeated: found.repeated.filter(({ published }) => !erased.has(published.companyId)) };
  newest = Math.max(newest, window.newest);

  const epoch = 1 + Math.max(epochOf(newest), ...(await Promise.all(SERVICES.map((service) => currentEpoch(of(service))))));
  say(`beginning epoch ${epoch} …`);
  const deliveries = await maySendTwice(
    of(integrations),
    window.repeated.map(({ published }) => published),
  );
  let [messages, mails]: [UnknownMessage[], UnknownMail[]] = [[], []];
  const frozen = new Set<string>();
  for (const service of SERVICES) {
    await of(service).transaction(async (tx) => {
      // What follows changes rows of every company.
      for (const companyId of await openFrozen(tx)) frozen.add(companyId);
      for (const companyId of erased) await markErased(tx, companyId);
      for (const { company_id: companyId, object_kind: kind, object_id: id, at: askedAt } of people)
        await markPersonErased(tx, { companyId, kind, id, askedAt });
      await appendAgain(tx, service, epoch, erased, service === scheduling ? window.repeated.map(({ placed }) => placed) : []);
      for (const state of service.states) await publishRemovals(tx, state, missing.get(state)!);
      await service.renew(tx);
      if (service === scheduling) messages = await giveUpMessages(tx);
      if (service === integrations) {
        await leaveAgain(tx, erasures);
        mails = await giveUpMails(tx);
      }
      if (service === reporting) await skipTo(tx, ends);
    });
  }
  for (const { groups } of SERVICES) {
    for (const { group, topics: read, again } of groups) await moveGroup(kafka, group, again ? await beginningsOf(kafka, read) : only(ends, read));
  }
  const removed = Object.fromEntries(states.map(({ state }) => [state.topic.name, missing.get(state)!.size]));
  const kept = <T extends { company_id: string }>(items: readonly T[]): T[] => items.filter(({ company_id }) => !erased.has(company_id));
  return {
    epoch,
    asOf,
    removed,
    repeated: window.repeated.length,
    undone: window.undone.filter(({ companyId }) => !erased.has(companyId)),
    deliveries: kept(deliveries),
    messages: kept(messages),
    mails: kept(mails),
    erased: [...erased],
    erasedPeople: new Set(people.map(({ company_id: companyId, object_kind: kind, object_id: id }) => personKey({ companyId, kind, id }))).size,
    frozen: [...frozen],
  };
}

/** Appends to the outbox, in original order, the events that waited there and those to repeat. State is left out, because all of it is published anew, and what is of deleted companies. */
async function appendAgain(tx: Transaction, { states }: Restored, epoch: number, erased: ReadonlySet<string>, repeated: readonly Placed[]): Promise<void> {
  const renewed = new Set(states.map(({ topic }) => topic.name));
  const waiting = (await takeWaiting(tx)).filter(({ event }) => !renewed.has(event.topic) && !erased.has(event.companyId));
  const byId = new Map([...repeated, ...waiting].map((placed) => [placed.event.id, placed]));
  const inOrder = [...byId.values()].toSorted((a, b) => a.version - b.version).map(({ event }) => event);
  await beginEpoch(tx, epoch);
  for (let start = 0; start < inOrder.length; start += CHUNK) await append(tx, inOrder.slice(start, start + CHUNK));
}

async function publishRemovals(tx: Transaction, { topic, removed }: PublishedState, gone: ReadonlySet<string>): Promise<void> {
  const keys = [...gone];
  for (let start = 0; start < keys.length; start += CHUNK) {
    await append(
      tx,
      keys.slice(start, start + CHUNK).map((key) => ({ topic: topic.name, key, type: removed, companyId: key.split('/', 1)[0]!, payload: null })),
    );
  }
}

function only(ends: Offsets, of: readonly Topic[]): Offsets {
  return new Map([...ends].filter(([name]) => of.some((topic) => topic.name === name)));
}
