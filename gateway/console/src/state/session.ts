// The signed-in user. The token is kept in this module's memory only: no storage, cookie, address or element. A reload forgets it.
import type { Me } from '../api/types.ts';
import { Store } from './store.ts';

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

let current: string | undefined;
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
  const { exp } = claimsOf(text);
  session.set({
    number: session.value.number + 1,
    signedIn: true,
    me,
    expiresAt: typeof exp === 'number' ? new Date(exp * 1000) : undefined,
    reason: undefined,
  });
}

/** Ends the session after the API has rejected the token. The screens stay in memory, hidden, until the same user signs in again. */
export function endSession(text: string, reason: string): void {
  if (current !== text) return;
  current = undefined;
  session.set({ ...session.value, signedIn: false, reason });
}

export function signOut(): void {
  current = undefined;
  session.set({ ...SIGNED_OUT, number: session.value.number });
}

/** The token's claims, unverified, for display only: the gateway verifies. */
function claimsOf(text: string): Record<string, unknown> {
  try {
    const part = text.split('.')[1] as string;
    const bytes = Uint8Array.from(atob(part.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
