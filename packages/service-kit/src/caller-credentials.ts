// What components prove to each other by who they are. A caller holds its credential; whoever is called holds nothing
// but its SHA-256, so that what one component is told opens no other.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { callers, callersOf, type Caller } from '@truckroll/contract';

/** `<caller>.<secret>`: CALL_CREDENTIAL. */
export interface CallCredential {
  readonly caller: Caller;
  readonly text: string;
}

/** SHA-256 of the credentials that are accepted, by caller: CALLER_CREDENTIALS. */
export type CallerCredentials = ReadonlyMap<Caller, readonly Buffer[]>;

/**
 * Metadata key of every call's credential. Not `authorization`: HTTP/2 compresses a header of its own to an index after
 * the first call of a connection, and sends and parses that one whole each time (RFC 7541, section 7.1.3).
 */
export const CREDENTIAL = 'truckroll-credential';
const SECRET_BYTES = 32;

export const CALLER_CREDENTIALS_FORM = '<caller>:<SHA-256 of its credential in hex>, comma-separated, a caller twice while its credential changes';

export function callCredentialForm(caller?: Caller): string {
  const name = caller ?? `one of ${callers.join(', ')}`;
  return `${name}, a dot, and at least 32 letters, digits, - or _, drawn at random (openssl rand -hex 32)`;
}

export function newCallCredential(caller: Caller): CallCredential {
  return { caller, text: `${caller}.${randomBytes(SECRET_BYTES).toString('base64url')}` };
}

/** The entry of CALLER_CREDENTIALS that accepts it. */
export function acceptanceOf({ caller, text }: CallCredential): string {
  return `${caller}:${hash('sha256', text)}`;
}

/** Undefined where the text has another form, names nobody, or is one character again and again. */
export function parseCallCredential(text: string): CallCredential | undefined {
  const [, name, secret] = /^([a-z-]+)\.([A-Za-z0-9_-]{32,256})$/.exec(text) ?? [];
  const caller = callers.find((candidate) => candidate === name);
  return caller === undefined || secret === undefined || isMonotonous(secret) ? undefined : { caller, text };
}

/** Undefined where an entry has another form, or none names a caller. Callers of a later release are passed over. */
export function parseCallerCredentials(text: string): CallerCredentials | undefined {
  const accepted = new Map<Caller, Buffer[]>();
  for (const entry of text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')) {
    const [, name, digest] = /^([a-z-]+):([0-9a-f]{64})$/.exec(entry) ?? [];
    const caller = callers.find((candidate) => candidate === name);
    if (digest === undefined) return undefined;
    if (caller !== undefined) accepted.set(caller, [...(accepted.get(caller) ?? []), Buffer.from(digest, 'hex')]);
  }
  return accepted.size === 0 ? undefined : accepted;
}

function isMonotonous(secret: string): boolean {
  return new Set(secret).size === 1;
}

/**
 * The value of a call's metadata entry: of several credentials the first whose caller the contract lets call the rpc. A
 * component has one; tools that stand for several have more.
 */
export function entryByRpc(credentials: readonly CallCredential[]): (rpc: string) => string | undefined {
  const [only] = credentials;
  if (credentials.length <= 1) {
    return () => only?.text;
  }
  return (rpc) => {
    const allowed = callersOf(rpc);
    return (credentials.find(({ caller }) => allowed.has(caller)) ?? only)?.text;
  };
}

export interface Presented {
  /** Who the credential says its bearer is; `unknown` where it names nobody. */
  readonly claimed: Caller | 'unknown';
  readonly proven: boolean;
}

/** Looks at a metadata entry. Takes as long for a credential that is nearly right as for any other. */
export function examine(entry: string | undefined, accepted: CallerCredentials): Presented {
  const name = entry?.slice(0, entry.indexOf('.'));
  const claimed = callers.find((candidate) => candidate === name);
  if (entry === undefined || claimed === undefined) return { claimed: 'unknown', proven: false };
  const digest = hash('sha256', entry, 'buffer');
  let proven = false;
  for (const one of accepted.get(claimed) ?? []) proven = timingSafeEqual(digest, one) || proven;
  return { claimed, proven };
}
