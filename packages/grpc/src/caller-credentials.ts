// Components prove their identity to each other with credentials. A called component holds only SHA-256 hashes, with which it cannot call others.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { callers, callersOf, type Caller } from '@truckroll/contract';

/** `<caller>.<secret>`, or `operator:<name>.<secret>` for one person: CALL_CREDENTIAL. */
export interface CallCredential {
  readonly caller: Caller;
  readonly text: string;
}

/** SHA-256 of the accepted credentials, by the part before the secret: CALLER_CREDENTIALS. */
export type CallerCredentials = ReadonlyMap<string, readonly Buffer[]>;

/** Metadata key of credentials. Not `authorization`: HTTP/2 sends that in full with every call, but compresses custom headers (RFC 7541, 7.1.3). */
export const CREDENTIAL = 'truckroll-credential';
/** Metadata key of the operator's name after its credential was verified. Set by the server, never by a caller. */
export const OPERATOR = 'truckroll-operator';
export const UNNAMED_OPERATOR = 'operator';
const SECRET_BYTES = 32;
const BEARER = '([a-z-]+)(?::([a-z0-9][a-z0-9_-]{0,62}))?';
const CREDENTIAL_TEXT = new RegExp(`^${BEARER}\\.([A-Za-z0-9_-]{32,256})$`);
const ACCEPTANCE = new RegExp(`^(${BEARER}):([0-9a-f]{64})$`);
const CLAIM = new RegExp(`^${BEARER}$`);

export const CALLER_CREDENTIALS_FORM =
  '<caller>:<SHA-256 of its credential in hex>, or operator:<name>:<SHA-256> for one person, comma-separated, a caller twice while its credential changes';

export function callCredentialForm(caller?: Caller): string {
  const name = caller ?? `one of ${callers.join(', ')}`;
  return `${name}, a dot, and at least 32 letters, digits, - or _, drawn at random (openssl rand -hex 32)`;
}

/** With a secret of 32 random bytes. Callees need its `acceptanceOf`. */
export function newCallCredential(caller: Caller): CallCredential {
  return { caller, text: `${caller}.${randomBytes(SECRET_BYTES).toString('base64url')}` };
}

export function newOperatorCredential(name: string): CallCredential {
  const { caller, text } = newCallCredential('operator');
  return { caller, text: text.replace('.', `:${name}.`) };
}

/** The entry of CALLER_CREDENTIALS that accepts the credential. */
export function acceptanceOf({ text }: CallCredential): string {
  return `${text.slice(0, text.indexOf('.'))}:${hash('sha256', text)}`;
}

/** Undefined if the text has another form, names an unknown caller, or its secret is one repeated character. */
export function parseCallCredential(text: string): CallCredential | undefined {
  const [, component, name, secret = ''] = CREDENTIAL_TEXT.exec(text) ?? [];
  const caller = callerNamed(component, name);
  return caller === undefined || isMonotonous(secret) ? undefined : { caller, text };
}

/** Undefined if an entry is malformed or no entry names a known caller. Callers of later releases are skipped. */
export function parseCallerCredentials(text: string): CallerCredentials | undefined {
  const accepted = new Map<string, Buffer[]>();
  for (const entry of text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')) {
    const [, bearer = '', component, name, digest = ''] = ACCEPTANCE.exec(entry) ?? [];
    if (bearer === '') return undefined;
    if (callerNamed(component, name) !== undefined) accepted.set(bearer, [...(accepted.get(bearer) ?? []), Buffer.from(digest, 'hex')]);
  }
  return accepted.size === 0 ? undefined : accepted;
}

function callerNamed(component: string | undefined, name: string | undefined): Caller | undefined {
  const caller = callers.find((candidate) => candidate === component);
  return name === undefined || caller === 'operator' ? caller : undefined;
}

function isMonotonous(secret: string): boolean {
  return new Set(secret).size === 1;
}

/** The credential for a call: the first whose caller the contract lets call the rpc. Components have one; tools that act as several have more. */
export function entryByRpc(credentials: readonly CallCredential[]): (rpc: string) => string | undefined {
  return (rpc) => {
    const allowed = callersOf(rpc);
    return (credentials.find(({ caller }) => allowed.has(caller)) ?? credentials[0])?.text;
  };
}

export interface Presented {
  /** The caller that the credential claims to be; `unknown` if it names none. */
  readonly claimed: Caller | 'unknown';
  readonly name?: string | undefined;
  readonly proven: boolean;
}

/** Verifies a metadata entry. Takes as long for a nearly correct credential as for any other. */
export function examine(entry: string | undefined, accepted: CallerCredentials): Presented {
  const text = entry ?? '';
  const bearer = text.slice(0, text.indexOf('.'));
  // Fast path: most callers are components, which have no person's name.
  const [, component, name] = bearer.includes(':') ? (CLAIM.exec(bearer) ?? []) : [bearer, bearer];
  const claimed = callerNamed(component, name);
  if (claimed === undefined) return { claimed: 'unknown', proven: false };
  const digest = hash('sha256', text, 'buffer');
  let proven = false;
  for (const one of accepted.get(bearer) ?? []) proven = timingSafeEqual(digest, one) || proven;
  return { claimed, name, proven };
}
