// From the Authorization header to the caller. Nothing of a credential is ever logged or repeated.
import { ApiError } from '@truckroll/contract';
import type { Principal, UserClaims } from '@truckroll/contract/gen/integrations/v1/identity';
import { hashApiKey, isApiKey } from '@truckroll/service-kit';
import type { Credential, Principals } from './principals.ts';
import type { Strangers } from './strangers.ts';
import type { TokenVerifier } from './tokens.ts';

/** `addressOf` tells the caller's network address; it is asked only where it counts. */
export type Authenticate = (authorization: string | undefined, addressOf: () => string) => Promise<Principal> | Principal;

export interface AuthenticateOptions {
  principals: Principals;
  /** Undefined where no issuer is configured: then no user token is right. */
  verifyToken: TokenVerifier | undefined;
  strangers: Strangers;
}

/** Throws ApiError 401, 429 for too many unknown credentials of one address, or 503 where nobody can tell who calls. */
export function createAuthenticate({ principals, verifyToken, strangers }: AuthenticateOptions): Authenticate {
  async function byToken(token: string): Promise<Principal | undefined> {
    const user = verifyToken?.remembered(token) ?? (await verifyToken?.verify(token));
    return user === undefined ? undefined : principals.find(userCredential(user));
  }

  function remembersToken(token: string): boolean {
    const user = verifyToken?.remembered(token);
    return user !== undefined && principals.remembers(userCredential(user));
  }

  function judged(principal: Principal | undefined, addressOf: () => string): Principal {
    if (principal === undefined) throw strangers.refuse(addressOf()) ?? refused();
    return principal;
  }

  /** What costs something waits for the turn of an address that has come with too many unknown credentials. */
  function find(addressOf: () => string, remembers: () => boolean, lookUp: () => Found): Found {
    return strangers.isOver(addressOf) && !remembers() ? strangers.inTurn(addressOf(), lookUp) : lookUp();
  }

  return (authorization, addressOf) => {
    if (authorization === undefined || authorization === '') {
      throw unauthenticated('Send the header Authorization: Bearer, followed by an API key or a user token.');
    }
    const credential = credentialIn(authorization);
    if (credential === undefined) {
      throw unauthenticated('The Authorization header must be Bearer, a space, and an API key or a user token.');
    }
    let found: Found;
    if (!credential.startsWith('trk_')) {
      found = find(
        addressOf,
        () => remembersToken(credential),
        () => byToken(credential),
      );
    } else {
      if (!isApiKey(credential)) throw unauthenticated('This is not an API key: its form or checksum is wrong. Copy it again, whole.');
      const key = keyCredential(credential);
      found = find(
        addressOf,
        () => principals.remembers(key),
        () => principals.find(key),
      );
    }
    return found instanceof Promise ? found.then((principal) => judged(principal, addressOf)) : judged(found, addressOf);
  };
}

/** The caller of a credential that this gateway knows and believes just now; undefined where somebody would have to be asked, or no one is called by it. */
export type Known = (authorization: string | undefined) => Principal | undefined;

/** As `createAuthenticate`, without looking anything up and counting nothing. */
export function createKnown({ principals, verifyToken }: Pick<AuthenticateOptions, 'principals' | 'verifyToken'>): Known {
  return (authorization) => {
    const given = authorization === undefined ? undefined : credentialIn(authorization);
    if (given === undefined) return undefined;
    const user = given.startsWith('trk_') ? undefined : verifyToken?.remembered(given);
    const credential = user !== undefined ? userCredential(user) : isApiKey(given) ? keyCredential(given) : undefined;
    if (credential === undefined || !principals.remembers(credential)) return undefined;
    const found = principals.find(credential);
    return found instanceof Promise ? undefined : found;
  };
}

function credentialIn(authorization: string): string | undefined {
  return /^Bearer +([^ ]+) *$/i.exec(authorization)?.[1];
}

type Found = Promise<Principal | undefined> | Principal | undefined;

function keyCredential(key: string): Credential {
  const hash = hashApiKey(key);
  return { cacheKey: `key:${hash.toString('hex')}`, request: { key_hash: hash }, shared: true };
}

function userCredential(user: UserClaims): Credential {
  return { cacheKey: `user:${JSON.stringify([user.issuer, user.subject, user.company_id])}`, request: { user }, shared: false };
}

function refused(): ApiError {
  return unauthenticated('The credential is unknown, expired or revoked, or its user no longer belongs to the company. Ask for a new one.');
}

export function unauthenticated(message: string): ApiError {
  return new ApiError('UNAUTHENTICATED', message);
}
