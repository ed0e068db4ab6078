// Authenticates requests again that have waited, such as held polls, and ends those whose credential is revoked or expires (decisions §17).
import { ApiError } from '@truckroll/contract';
import type { Exchange } from '../http/exchange.ts';
import type { Authentication } from './authenticate.ts';
import type { Invalidation } from './invalidations.ts';

/** Milliseconds for which an authentication counts: a revocation takes effect within a second (decisions §8). */
const VALID_MS = 1000;
/** Longest delay in ms of a timer. */
const MOST_MS = 2 ** 31 - 1;

interface Holder {
  readonly exchange: Exchange;
  readonly keyHash: string | undefined;
  /** Ends the wait if the credential is no longer valid. Never rejects. */
  check(): Promise<void>;
}

export class HeldCallers {
  readonly #authentication: Pick<Authentication, 'again' | 'endOf'>;
  readonly #holders = new Set<Holder>();

  constructor(authentication: Pick<Authentication, 'again' | 'endOf'>) {
    this.#authentication = authentication;
  }

  /** Whether a caller authenticated at `at`, as performance.now(), must be authenticated again. */
  isStale(at: number): boolean {
    return performance.now() - at > VALID_MS;
  }

  /** Throws ApiError 401 if the credential of an authenticated request is no longer valid, and 503 if nothing can say so. */
  async authenticate(exchange: Exchange): Promise<void> {
    exchange.principal = await this.#authentication.again(exchange.req.headers.authorization as string);
  }

  /** Resolves to the value of `over`. Rejects with ApiError 401 as soon as the caller's credential is revoked or expires. */
  async hold<T>(exchange: Exchange, over: Promise<T>): Promise<T> {
    const { promise: refused, reject } = Promise.withResolvers<never>();
    const { keyHash, expiresAt = Infinity } = this.#authentication.endOf(exchange.req.headers.authorization as string);
    const endsAt = Math.min(expiresAt, (exchange.principal?.expires_at ?? Infinity) / 1000);
    let timer: NodeJS.Timeout | undefined;
    const check = async (): Promise<void> => {
      try {
        await this.authenticate(exchange);
        clearTimeout(timer);
        if (this.#holders.has(holder) && endsAt < Infinity) timer = setTimeout(() => void check(), Math.min(MOST_MS, Math.max(1, endsAt - Date.now())));
      } catch (error) {
        // If nothing can say whether it is valid, the check before the answer decides.
        if (error instanceof ApiError && error.status === 401) reject(error);
      }
    };
    const holder: Holder = { exchange, keyHash, check };
    this.#holders.add(holder);
    try {
      // The credential may have been revoked since it was authenticated.
      void check();
      const value = await Promise.race([over, refused]);
      await this.authenticate(exchange);
      return value;
    } finally {
      this.#holders.delete(holder);
      clearTimeout(timer);
    }
  }

  revoked({ kind, id }: Invalidation): void {
    for (const { exchange, keyHash, check } of this.#holders) {
      const of = { key: keyHash, user: exchange.principal?.user_id, company: exchange.principal?.company_id };
      if (of[kind] === id) void check();
    }
  }

  /** Revocations may have been missed. Checks one request after another: all at once could overload integrations. */
  async checkAll(): Promise<void> {
    for (const { check } of [...this.#holders]) await check();
  }
}
