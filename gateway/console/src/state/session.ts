// The signed-in user. The session ends with its token.
import type { Me } from '../api/types.ts';
import { endOf } from './claims.ts';
import { forgetSignedOut, forgetToken, keepSignedOut, keepToken } from './kept.ts';
import { Store } from './store.ts';

/** Longest delay in ms that browsers can wait; they end a longer one at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

export interface Session {
  /** Counts sign-ins, so that interrupted requests can continue after one. */
  readonly number: number;
  readonly signedIn: boolean;
  /** The user, also after the session expired; another user does not see these screens. */
  readonly me: Me | undefined;
  readonly expiresAt: Date | undefined;
  readonly reason: string | undefined;
}

const SIGNED_OUT: Session = { number: 0, signedIn: false, me: undefined, expiresAt: undefined, reason: undefined };

export const EXPIRED = 'It lasts as long as its token, which has expired.';

/** The console's other tabs. */
const tabs = new BroadcastChannel('truckroll.session');
const SIGN_OUT = 'sign out';
tabs.onmessage = ({ data }) => data === SIGN_OUT && session.value.signedIn && leave();

let current: string | undefined;
let expiry: number | undefined;
export const session = new Store<Session>(SIGNED_OUT);

export const token = (): string | undefined => current;

/** What is wrong with the pasted text, found without a request. */
export function misfit(text: string): string | undefined {
  if (text === '') return 'Paste a user token.';
  if (text.startsWith('trk_')) return 'This is an API key. The console makes changes, and those need a user token.';
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)) return 'This is no user token: one has three parts with dots between them. Paste the whole of it.';
  return undefined;
}

/** The token in the pasted text, which may be a complete header. */
export const tokenIn = (text: string): string => text.trim().replace(/^(authorization:\s*)?bearer\s+/i, '');

export function beginSession(text: string, me: Me): void {
  current = text;
  keepToken(text);
  forgetSignedOut();
  const expiresAt = endOf(text);
  session.set({ number: session.value.number + 1, signedIn: true, me, expiresAt, reason: undefined });
  clearTimeout(expiry);
  if (expiresAt === undefined) return;
  const delay = Math.min(Math.max(0, expiresAt.getTime() - Date.now()), LONGEST_DELAY_MS);
  expiry = window.setTimeout(() => endSession(text, EXPIRED), delay);
}

/** Ends the session when its token has. The screens stay in memory, hidden, until the same user signs in again. */
export function endSession(text: string, reason: string): void {
  if (current !== text) return;
  forget();
  session.set({ ...session.value, signedIn: false, reason });
}

/** Ends the sessions of all tabs. */
export function signOut(): void {
  tabs.postMessage(SIGN_OUT);
  leave();
}

function leave(): void {
  forget();
  keepSignedOut();
  session.set({ ...SIGNED_OUT, number: session.value.number });
}

function forget(): void {
  current = undefined;
  clearTimeout(expiry);
  forgetToken();
}
