// Authenticates by the Authorization header. No part of a credential is ever logged or echoed.
import { ApiError } from '@truckroll/contract';
import type { Principal, UserClaims } from '@truckroll/contract/gen/integrations/v1/identity';
import { LONGEST_AUTHORIZATION, bearerOf, createKeyReader } from './bearer.ts';
import { MayBeUnknown } from './cells.ts';
import type { Credential, Principals } from './principals.ts';
import type { Strangers } from './strangers.ts';
import { expiryOf, type TokenVerifier } from './tokens.ts';

export interface Authentication {
  /**
   * Returns the caller. `addressOf` returns the caller's network address and is called only when it is needed. Throws ApiError 401, 429 if
   * one address sends too many unknown credentials, or 503 if the caller cannot be looked up.
   */
  authenticate(authorization: string | undefined, addressOf: () => string): Promise<Principal> | Principal;
  /** The caller, if this gateway's cache holds it and still trusts it; otherwise undefined. Counts nothing. */
  known(authorization: string | undefined): Principal | undefined;
  /** The caller of a credential that was valid before. Throws ApiError 401 if it no longer is, and 503 as above. Counts nothing. */
  again(authorization: string): Promise<Principal> | Principal;
  /** As `again`, past the caches. */
  renew(authorization: string): Promise<Principal>;
  /** What ends the validity of a credential that was valid before: the revocation of this key, and a token's expiry, in ms since 1970. */
  endOf(authorization: string): { keyHash?: string; expiresAt?: number };
}

export interface AuthenticationOptions {
  principals: Principals;
  /** Undefined if no issuer is configured: then no user token is valid. */
  verifyToken: TokenVerifier | undefined;
  strangers: Strangers;
}

const NOT_BEARER = `The Authorization header must be Bearer, a space, and an API key or a user token, with at most ${LONGEST_AUTHORIZATION} characters.`;

type Found = Promise<Principal | undefined> | Principal | undefined;

/** The form of a credential decides whether it is a key or a token. `principals` finds the caller of both; `strangers` counts refused ones (decisions §8). */
export function createAuthentication({ principals, verifyToken, strangers }: AuthenticationOptions): Authentication {
  const keyIn = createKeyReader();

  async function userOf(token: string): Promise<Credential | undefined> {
    const user = verifyToken?.remembered(token) ?? (await verifyToken?.verify(token));
    return user && userCredential(user);
  }

  async function byToken(token: string): Promise<Principal | undefined> {
    const user = await userOf(token);
    return user && principals.find(user);
  }

  function rememberedUser(token: string): Credential | undefined {
    const user = verifyToken?.remembered(token);
    return user && userCredential(user);
  }

  function remembers(credential: Credential | undefined): boolean {
    return credential !== undefined && principals.remembers(credential);
  }

  /** Queues a look-up that memory cannot answer if its address has sent too many unknown credentials. */
  function find(addressOf: () => string, isKnown: () => boolean, lookUp: () => Found): Found {
    return strangers.isOver(addressOf) && !isKnown() ? strangers.inTurn(addressOf(), lookUp) : lookUp();
  }

  function look(authorization: string, addressOf: () => string): Promise<Principal> | Principal {
    const key = keyIn(authorization);
    if (key !== undefined) {
      const found = find(
        addressOf,
        () => remembers(key),
        () => principals.find(key),
      );
      return judge(found, addressOf, unknownKey);
    }
    const token = bearerOf(authorization);
    if (token === undefined) throw malformed(addressOf, NOT_BEARER);
    if (token.startsWith('trk_')) throw malformed(addressOf, 'This is not an API key: its form or checksum is wrong. Copy it again, whole.');
    const found = find(
      addressOf,
      () => remembers(rememberedUser(token)),
      () => byToken(token),
    );
    return judge(found, addressOf, () => whyRefused(token));
  }

  function whyRefused(token: string): string {
    if (verifyToken === undefined) return 'No issuer of user tokens is set up here: send an API key.';
    return verifyToken.remembered(token) === undefined ? verifyToken.whyRefused(token) : UNKNOWN_USER;
  }

  /** A malformed credential counts as an unknown one. */
  function malformed(addressOf: () => string, message: string): ApiError {
    return strangers.refuse(addressOf()) ?? unauthenticated(message);
  }

  function judge(found: Found, addressOf: () => string, why: () => string): Promise<Principal> | Principal {
    if (!(found instanceof Promise)) return judged(found, addressOf, why);
    return found.then(
      (principal) => judged(principal, addressOf, why),
      (error: unknown) => {
        // It counts, because it cost a look-up in every cell, and is answered with 503, because it may be valid.
        if (error instanceof ApiError && error.cause instanceof MayBeUnknown) strangers.noteMissing(addressOf());
        throw error;
      },
    );
  }

  /** `why` is called after the credential was counted, so that a flood does not cost its reasons. */
  function judged(principal: Principal | undefined, addressOf: () => string, why: () => string): Principal {
    if (principal === undefined) throw strangers.refuse(addressOf()) ?? unauthenticated(why());
    return principal;
  }

  /** The caller of a credential that was valid before. */
  function valid(authorization: string, principal: Principal | undefined): Principal {
    if (principal !== undefined) return principal;
    throw unauthenticated(keyIn(authorization) === undefined ? whyRefused(bearerOf(authorization) as string) : unknownKey());
  }

  return {
    authenticate(authorization, addressOf) {
      if (authorization === undefined || authorization === '') {
        strangers.noteMissing(addressOf());
        throw unauthenticated('Send the header Authorization: Bearer, followed by an API key or a user token.');
      }
      return look(authorization, addressOf);
    },
    known(authorization) {
      if (authorization === undefined) return undefined;
      const token = keyIn(authorization) ?? bearerOf(authorization);
      const credential = typeof token === 'string' ? rememberedUser(token) : token;
      return credential && principals.recall(credential);
    },
    again(authorization) {
      const key = keyIn(authorization);
      const found = key === undefined ? byToken(bearerOf(authorization) as string) : principals.find(key);
      return found instanceof Promise ? found.then((principal) => valid(authorization, principal)) : valid(authorization, found);
    },
    async renew(authorization) {
      const credential = keyIn(authorization) ?? (await userOf(bearerOf(authorization) as string));
      return valid(authorization, credential && (await principals.renew(credential)));
    },
    endOf(authorization) {
      const key = keyIn(authorization);
      return key === undefined ? { expiresAt: expiryOf(bearerOf(authorization) as string) } : { keyHash: key.cacheKey.slice('key:'.length) };
    },
  };
}

function userCredential(user: UserClaims): Credential {
  return { cacheKey: `user:${JSON.stringify([user.issuer, user.subject, user.company_id])}`, request: { user }, shared: false };
}

const UNKNOWN_USER = 'The token is valid, but its sub is no active user of its company: ask the operator to add the user, with this subject.';

function unknownKey(): string {
  return 'The API key is unknown, expired or revoked, or its user no longer belongs to the company. Ask for a new one.';
}

export function unauthenticated(message: string): ApiError {
  return new ApiError('UNAUTHENTICATED', message);
}
