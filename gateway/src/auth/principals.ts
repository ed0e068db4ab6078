// Finds the caller that a credential belongs to: in memory, in Redis, or by asking integrations. Caches are trusted only while no revocation
// can be missed (decisions §8).
import { LRUCache } from 'lru-cache';
import { ApiError, IDENTITY_EPOCH_KEY, now } from '@truckroll/contract';
import type { AuthenticateRequest, Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import type { RedisLink } from '@truckroll/redis';
import { CompanySwitching } from './cells.ts';
import { SHARED_SECONDS, type IdentitySeal } from './identity-seal.ts';
import type { Invalidation, Invalidations } from './invalidations.ts';

/** Time in ms that an answer is trusted while revocations may be missed, and that "unknown" is cached. Decisions §8 allow a second. */
const UNPROVEN_MS = 1000;
/** Age in ms from which an answer is refreshed in the background, in case an invalidation did not cover the change. */
const REFRESH_MS = 60_000;
const MOST_KEPT = 50_000;
/** Revocations remembered at once; the oldest is forgotten first. */
const MOST_REVOKED = 100_000;
/** Unknown credentials are cached separately, so that a client that makes up keys evicts only made-up keys. */
const MOST_REJECTED = 10_000;

/** A well-formed credential. */
export interface Credential {
  /** Key of the cache: `key:<hash in hex>` for an API key. */
  cacheKey: string;
  request: AuthenticateRequest;
  /** Whether the answer is kept in Redis too. */
  shared: boolean;
}

interface Entry {
  principal: Principal | undefined;
  /** `elapsedMs` when the look-up started. */
  askedAt: number;
  /** Whether the answer came from integrations rather than from Redis. */
  firstHand: boolean;
  refreshing: boolean;
  /** Whether `renew` asked. */
  renewed?: boolean;
}

export interface PrincipalsOptions {
  /** Asks integrations. Rejects if it cannot answer. */
  ask(request: AuthenticateRequest): Promise<Principal | undefined>;
  /** Whether this gateway has the cell. Others with other settings share their identities in Redis. Default: it has. */
  serves?: (cell: string | undefined) => boolean;
  redis: RedisLink;
  seal: IdentitySeal;
  invalidations: Invalidations;
  /** Microseconds since 1970; the system's clock by default. */
  now?: () => number;
  /** Milliseconds since some moment, never set back; the process's clock by default. */
  elapsedMs?: () => number;
}

export class Principals {
  readonly #options: PrincipalsOptions;
  readonly #now: () => number;
  readonly #elapsedMs: () => number;
  /** `elapsedMs` of the latest revocation of a key, user or company, by `kind:id`. */
  readonly #revoked = new LRUCache<string, number>({ max: MOST_REVOKED });
  readonly #entries = new LRUCache<string, Entry>({ max: MOST_KEPT });
  readonly #rejected = new LRUCache<string, Entry>({ max: MOST_REJECTED });
  readonly #underWay = new Map<string, Promise<Principal | undefined>>();

  constructor(options: PrincipalsOptions) {
    this.#options = options;
    this.#now = options.now ?? now;
    this.#elapsedMs = options.elapsedMs ?? (() => performance.now());
  }

  /** The caller, or undefined if the credential is not valid. Throws ApiError 503 if neither cache nor integrations can answer. */
  find(credential: Credential): Promise<Principal | undefined> | Principal | undefined {
    const entry = this.#kept(credential);
    return entry === undefined ? this.#once(credential.cacheKey, () => this.#look(credential)) : this.#principalOf(credential, entry);
  }

  /** What `find` answers from memory; undefined if it would have to ask. */
  recall(credential: Credential): Principal | undefined {
    const entry = this.#kept(credential);
    return entry && this.#principalOf(credential, entry);
  }

  /** Whether `find` answers from memory. */
  remembers(credential: Credential): boolean {
    return this.#kept(credential) !== undefined;
  }

  /** As `find`, past the caches: by asking, unless `renew` did less than a second ago and nothing was revoked since. */
  renew(credential: Credential): Promise<Principal | undefined> | Principal | undefined {
    const { cacheKey } = credential;
    const entry = this.#entries.get(cacheKey);
    if (entry?.renewed === true && this.#isYoung(entry)) return this.#unexpired(entry.principal);
    this.#entries.delete(cacheKey);
    // A look-up that is under way may have been answered before the company moved.
    return this.#once(`renew ${cacheKey}`, () => this.#ask(credential, undefined, true));
  }

  forget({ kind, id }: Invalidation): void {
    this.#revoked.set(`${kind}:${id}`, this.#elapsedMs());
    if (kind === 'key') {
      this.#entries.delete(`key:${id}`);
      return;
    }
    for (const [cacheKey, { principal }] of this.#entries.entries()) {
      const concerned = kind === 'user' ? principal?.user_id === id : principal?.company_id === id;
      if (concerned) this.#entries.delete(cacheKey);
    }
  }

  forgetAll(): void {
    // Revocations may have been missed, so their entries in Redis are not known.
    this.#options.seal.refuseEarlier();
    this.#entries.clear();
  }

  #principalOf(credential: Credential, entry: Entry): Principal | undefined {
    if (this.#elapsedMs() - entry.askedAt > REFRESH_MS && !entry.refreshing) this.#refresh(credential, entry);
    return this.#unexpired(entry.principal);
  }

  #kept({ cacheKey }: Credential): Entry | undefined {
    const entry = this.#entries.get(cacheKey) ?? this.#rejected.get(cacheKey);
    return entry !== undefined && this.#believable(entry) ? entry : undefined;
  }

  #believable(entry: Entry): boolean {
    if (entry.principal === undefined) return this.#isYoung(entry);
    return this.#options.invalidations.proven() || (entry.firstHand && this.#isYoung(entry));
  }

  #isYoung({ askedAt }: Entry): boolean {
    return this.#elapsedMs() - askedAt < UNPROVEN_MS;
  }

  /** Concurrent requests with one credential share one look-up. */
  #once(name: string, look: () => Promise<Principal | undefined>): Promise<Principal | undefined> {
    let work = this.#underWay.get(name);
    if (work === undefined) {
      work = look().finally(() => this.#underWay.delete(name));
      this.#underWay.set(name, work);
    }
    return work;
  }

  #refresh(credential: Credential, entry: Entry): void {
    entry.refreshing = true;
    const epoch = credential.shared ? this.#sharedState(credential).then((state) => state?.epoch) : Promise.resolve(undefined);
    epoch
      .then((known) => this.#ask(credential, known))
      // Integrations is unavailable. The proven entry stays in use, and a later request tries again.
      .catch(() => setTimeout(() => (entry.refreshing = false), UNPROVEN_MS).unref());
  }

  async #look(credential: Credential): Promise<Principal | undefined> {
    const { invalidations } = this.#options;
    const generation = invalidations.generation;
    const askedAt = this.#elapsedMs();
    const state = credential.shared && invalidations.proven() ? await this.#sharedState(credential) : undefined;
    if (state?.principal !== undefined) {
      this.#keep(credential, { principal: state.principal, askedAt, firstHand: false, refreshing: false }, generation);
      return this.#unexpired(state.principal);
    }
    return this.#ask(credential, state?.epoch);
  }

  async #ask(credential: Credential, epoch: string | undefined, renewed = false): Promise<Principal | undefined> {
    const generation = this.#options.invalidations.generation;
    const askedAt = this.#elapsedMs();
    let principal: Principal | undefined;
    try {
      principal = await this.#options.ask(credential.request);
    } catch (error) {
      throw error instanceof CompanySwitching ? error : ApiError.unavailable(error);
    }
    this.#keep(credential, { principal, askedAt, firstHand: true, refreshing: false, renewed }, generation);
    if (principal !== undefined && epoch !== undefined) this.#share(credential, principal, epoch);
    return this.#unexpired(principal);
  }

  /** If something was revoked while the answer was under way, it may be outdated: it serves its request but is not cached. */
  #keep(credential: Credential, entry: Entry, generation: number): void {
    const { cacheKey } = credential;
    this.#rejected.delete(cacheKey);
    if (generation !== this.#options.invalidations.generation) this.#entries.delete(cacheKey);
    else if (entry.principal !== undefined) this.#entries.set(cacheKey, entry);
    else {
      this.#entries.delete(cacheKey);
      this.#rejected.set(cacheKey, entry);
    }
  }

  async #sharedState(credential: Credential): Promise<{ epoch: string; principal?: Principal } | undefined> {
    try {
      const [epoch, text] = await this.#options.redis.run('read_identity', (client) =>
        Promise.all([client.get(IDENTITY_EPOCH_KEY), client.get(sharedKey(this.#sharedName(credential)))]),
      );
      if (typeof epoch !== 'string') return undefined;
      const principal = typeof text === 'string' ? this.#options.seal.open(this.#sharedName(credential), epoch, text) : undefined;
      const isServed = principal !== undefined && this.#serves(principal.cell ?? undefined);
      return !isServed || this.#wasRevoked(credential, principal) ? { epoch } : { epoch, principal };
    } catch {
      return undefined;
    }
  }

  /** Anyone who can write to Redis can put back an old entry with its epoch, so revocations are remembered for as long as such an entry would open. */
  #wasRevoked({ cacheKey }: Credential, { user_id: userId, company_id: companyId }: Principal): boolean {
    return [cacheKey, `user:${userId}`, `company:${companyId}`].some((subject) => {
      const revokedAt = this.#revoked.get(subject);
      return revokedAt !== undefined && this.#elapsedMs() - revokedAt <= SHARED_SECONDS * 1000;
    });
  }

  #unexpired(principal: Principal | undefined): Principal | undefined {
    const end = principal?.expires_at;
    return end == null || end > this.#now() ? principal : undefined;
  }

  #serves(cell: string | undefined): boolean {
    return this.#options.serves?.(cell) ?? true;
  }

  /** Where cells have names, identities do too: gateways of 1.3.0 would take them without the cell. */
  #sharedName({ cacheKey }: Credential): string {
    return this.#serves(undefined) ? cacheKey : `cells:${cacheKey}`;
  }

  #share(credential: Credential, principal: Principal, epoch: string): void {
    const name = this.#sharedName(credential);
    const text = this.#options.seal.seal(name, epoch, principal);
    const expiration = { type: 'EX', value: SHARED_SECONDS } as const;
    this.#options.redis.run('keep_identity', (client) => client.set(sharedKey(name), text, { expiration })).catch(() => undefined);
  }
}

function sharedKey(name: string): string {
  return `truckroll:identity:${name}`;
}
