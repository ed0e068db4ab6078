// What survives a reload. Tokens are kept in sessionStorage, which belongs to one tab and ends with it: never in localStorage, a cookie or an address.
import type { Pending } from '../api/issuer.ts';

const TOKEN = 'truckroll.token';
const PENDING = 'truckroll.sign-in';
const SIGNED_OUT = 'truckroll.signed-out';

export const keptToken = (): string | undefined => read(TOKEN);
export const keepToken = (token: string): void => write(TOKEN, token);
export const forgetToken = (): void => remove(TOKEN);

export const keepPending = (pending: Pending): void => write(PENDING, JSON.stringify(pending));

/** The sign-in that was begun in this tab. It is forgotten, because an answer to it counts once. */
export function takePending(): Pending | undefined {
  const text = read(PENDING);
  remove(PENDING);
  return text === undefined ? undefined : (JSON.parse(text) as Pending);
}

/** Whether the user signed out, or could not be signed in: then no tab signs them in by itself, and the issuer must ask who they are. */
export const hasSignedOut = (): boolean => read(SIGNED_OUT) !== undefined;
export const keepSignedOut = (): void => write(SIGNED_OUT, 'yes');
export const forgetSignedOut = (): void => remove(SIGNED_OUT);

/** All tabs see that the user signed out, also those that are opened later. */
const storageOf = (name: string): Storage => (name === SIGNED_OUT ? localStorage : sessionStorage);

function read(name: string): string | undefined {
  return tried(() => storageOf(name).getItem(name) ?? undefined);
}

function write(name: string, value: string): void {
  tried(() => storageOf(name).setItem(name, value));
}

function remove(name: string): void {
  tried(() => storageOf(name).removeItem(name));
}

/** Browsers that block storage throw. Then a reload forgets the session. */
function tried<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
