// The latest names of referenced records. The owner writes them with its records, other services as events arrive. Each process caches the
// names it uses, and PostgreSQL's notifications invalidate those that changed.
import type { Database, Queryable, DatabaseSession, Transaction } from '@truckroll/postgres';
import type { BackgroundPart } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';

/** `version` grows with every change, so that a redelivered event does not undo a later one. The owner, whose writes are in order, uses 0. */
export interface Name {
  kind: string;
  id: string;
  name: string;
  version: number;
}

const CHANNEL = 'names';
/** Above this many changes of a company at once, its cached names are dropped as a whole. */
const MOST_NOTICES = 50;
/** Maximum names cached by a process, about 240 bytes each including keys and maps. */
const MOST_CACHED = 400_000;
/** Longest time a company's names stay cached, in ms: a process that dies between its commit and the notification leaves them stale. */
const KEEP_MS = 60_000;

/** Maximum length of a name in references and caches; records keep their own whole. */
export const LONGEST_NAME = 1000;

/** The name as references contain it. */
export const nameInReference = (name: string): string => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1).toWellFormed()}…` : name);

/** Stores names in the caller's transaction and notifies every process after the commit. Returns the new and changed ones. */
export async function writeNames(tx: Transaction, schema: string, companyId: string, names: readonly Name[]): Promise<Name[]> {
  if (names.length === 0) return [];
  const latest = [...new Map(names.map(({ name, ...of }) => [`${of.kind}:${of.id}`, { ...of, name: nameInReference(name) }])).values()];
  const { rows } = await tx.query<Name>({
    name: 'write_names',
    text: `insert into names as n (company_id, kind, id, name, version)
      select $1, * from unnest($2::text[], $3::uuid[], $4::text[], $5::bigint[])
      on conflict (company_id, kind, id) do update set name = excluded.name, version = excluded.version
      where n.version <= excluded.version and n.name <> excluded.name
      returning kind, id, name, version`,
    values: [companyId, ...(['kind', 'id', 'name', 'version'] as const).map((key) => latest.map((name) => name[key]))],
  });
  if (rows.length === 0) return [];
  const whole = rows.length > MOST_NOTICES;
  const notices = whole ? [companyId] : rows.map(({ kind, id }) => `${companyId} ${kind} ${id}`);
  tx.notify(`${schema}_${CHANNEL}`, notices);
  return rows;
}

/** Removes names whose records the owner no longer has, by key `<company>/<kind>/<id>`. */
export async function removeNames(tx: Transaction, schema: string, companyId: string, keys: readonly string[]): Promise<void> {
  await tx.query({
    name: 'remove_names',
    text: `delete from names n using unnest($2::text[]) k(key)
      where n.company_id = $1 and n.kind = split_part(k.key, '/', 2) and n.id = split_part(k.key, '/', 3)::uuid`,
    values: [companyId, keys],
  });
  tx.notify(`${schema}_${CHANNEL}`, [companyId]);
}

/** One company's names by kind, then id; null if the owner has not published one yet. */
type CompanyNames = Map<string, Map<string, Uint8Array | null>>;

interface Cached {
  readonly names: CompanyNames;
  /** By performance.now(). */
  readonly since: number;
}

/** The name's UTF-8 bytes, null if unknown, undefined if not cached. */
export interface NameLookup {
  get(kind: string, id: string): Uint8Array | null | undefined;
}

export class NameCache implements BackgroundPart {
  readonly name = 'names';
  readonly #database: Database;
  readonly #schema: string;
  readonly #log: Logger;
  readonly #companies = new Map<string, Cached>();
  readonly #keepMs: number;
  #size = 0;
  /** Grows with every invalidation: names fetched before one are not cached after it. */
  #generation = 0;
  /** While notifications may be missed, names are used only for the page that fetched them. */
  #listening = false;
  #session: DatabaseSession | undefined;
  #stopped = false;

  constructor(database: Database, schema: string, log: Logger, keepMs = KEEP_MS) {
    this.#database = database;
    this.#schema = schema;
    this.#log = log;
    this.#keepMs = keepMs;
  }

  /** Listens for changes until stop, reconnecting as needed. Without a connection, reads still work, uncached. */
  async start(): Promise<void> {
    try {
      const session = await this.#database.session();
      this.#session = session;
      session.onNotification((payload) => this.#invalidate(payload));
      await session.query({ text: `listen ${this.#schema}_${CHANNEL}` });
      this.#clear();
      this.#listening = true;
      void session.ended.then(() => this.#lost());
    } catch (cause) {
      this.#log.warn({ err: cause }, 'cannot listen for changed names; reading them from the database');
      await this.#lost();
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#session?.close();
  }

  async #lost(): Promise<void> {
    this.#listening = false;
    this.#clear();
    if (this.#stopped) return;
    setTimeout(() => void (this.#stopped || this.start()), 500).unref();
  }

  /** The currently cached names. Valid until the next await. */
  of(companyId: string): NameLookup {
    const cached = this.#companies.get(companyId);
    if (cached !== undefined && performance.now() - cached.since > this.#keepMs) this.#drop(companyId);
    const names = this.#companies.get(companyId)?.names;
    return { get: (kind, id) => names?.get(kind)?.get(id) };
  }

  /** Fetches the names a page lacks. The result knows every wanted name, cached or not. */
  async fetch(companyId: string, wanted: ReadonlyMap<string, ReadonlySet<string>>, through: Queryable = this.#database): Promise<NameLookup> {
    const generation = this.#generation;
    // Taken before the query, so that names that expire during it are still there for the caller's page.
    const cached = this.#companies.get(companyId)?.names;
    const pairs = [...wanted].flatMap(([kind, ids]) => [...ids].map((id) => [kind, id] as const));
    const { rows } = await through.query<{ kind: string; id: string; name: string }>({
      name: 'fetch_names',
      text: `select n.kind, n.id, n.name from unnest($2::text[], $3::uuid[]) w(kind, id)
        join names n on n.company_id = $1 and n.kind = w.kind and n.id = w.id`,
      values: [companyId, pairs.map(([kind]) => kind), pairs.map(([, id]) => id)],
    });
    const found: CompanyNames = new Map([...wanted].map(([kind, ids]) => [kind, new Map([...ids].map((id) => [id, null]))]));
    const names = encodedTogether(rows.map(({ name }) => name));
    rows.forEach(({ kind, id }, index) => found.get(kind)?.set(id, names[index] as Uint8Array));
    if (this.#listening && generation === this.#generation) this.#keep(companyId, found);
    // Null says that the name is unknown, so it is not looked for among the cached names.
    const lookUp = (kind: string, id: string) => {
      const name = found.get(kind)?.get(id);
      return name === undefined ? cached?.get(kind)?.get(id) : name;
    };
    return { get: lookUp };
  }

  #keep(companyId: string, found: CompanyNames): void {
    // Evicts whole companies, the oldest first: simple, and one fetch restores an evicted company.
    for (const oldest of this.#companies.keys()) {
      if (this.#size < MOST_CACHED) break;
      this.#drop(oldest);
    }
    let cached = this.#companies.get(companyId);
    if (cached === undefined) this.#companies.set(companyId, (cached = { names: new Map(), since: performance.now() }));
    const company = cached.names;
    for (const [kind, names] of found) {
      let ofKind = company.get(kind);
      if (ofKind === undefined) company.set(kind, (ofKind = new Map<string, Uint8Array | null>()));
      this.#size -= ofKind.size;
      for (const [id, name] of names) ofKind.set(id, name);
      this.#size += ofKind.size;
    }
  }

  #invalidate(payload: string): void {
    this.#generation++;
    const [companyId, kind, id] = payload.split(' ') as [string, string?, string?];
    if (kind === undefined || id === undefined) this.#drop(companyId);
    else if (this.#companies.get(companyId)?.names.get(kind)?.delete(id)) this.#size--;
  }

  #drop(companyId: string): void {
    for (const ofKind of this.#companies.get(companyId)?.names.values() ?? []) this.#size -= ofKind.size;
    this.#companies.delete(companyId);
  }

  #clear(): void {
    this.#generation++;
    this.#companies.clear();
    this.#size = 0;
  }
}

/** Encodes names in one buffer of their own: in the 64 KB pool that Node uses for small buffers, one cached name would keep the whole pool. */
export function encodedTogether(names: readonly string[]): Uint8Array[] {
  const memory = Buffer.allocUnsafeSlow(names.reduce((size, name) => size + Buffer.byteLength(name), 0));
  let end = 0;
  return names.map((name) => {
    const start = end;
    end += memory.write(name, start);
    return memory.subarray(start, end);
  });
}
