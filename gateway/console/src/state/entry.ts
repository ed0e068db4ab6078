// How a session begins: with a token that this tab kept, with the issuer's answer, or on the way to the issuer.
import { addressToSignIn, hasIssuer, isAnswer, issuerName, newPending, tokenFor, type Pending } from '../api/issuer.ts';
import { readMe } from '../api/integrations.ts';
import { Problem } from '../api/problem.ts';
import { endOf } from './claims.ts';
import { forgetToken, hasSignedOut, keepPending, keepSignedOut, keepToken, keptToken, takePending } from './kept.ts';
import { goInstead } from './route.ts';
import { EXPIRED, beginSession, session } from './session.ts';
import { Store } from './store.ts';

export interface Entry {
  /** Whether nothing has to be asked, because the session is beginning. */
  readonly busy: boolean;
  readonly problem: Problem | undefined;
}

export const entry = new Store<Entry>({ busy: false, problem: undefined });

/** When the page opens. */
export const enter = (): Promise<void> =>
  attempt(async () => {
    const query = new URLSearchParams(location.search);
    const pending = takePending();
    const token = keptToken();
    if (isAnswer(query)) {
      // The code leaves the address and the history before anything else happens.
      goInstead(`${location.pathname}${pending?.place ?? location.hash}`);
      // A signed-in user followed an old or a forged link, and stays signed in.
      if (pending !== undefined || token === undefined) return await enterWithAnswer(query, pending);
    }
    if (token !== undefined) return await enterWithKept(token);
    if (!hasIssuer || hasSignedOut()) return true;
    return await leaveForIssuer();
  });

/** When the user asks to sign in, or to try again. */
export const signInAtIssuer = (): Promise<void> =>
  attempt(async () => {
    const token = keptToken();
    return token === undefined ? await leaveForIssuer() : await enterWithKept(token);
  });

/** Resolves to whether this page has done its part: otherwise it is about to be left. */
async function attempt(work: () => Promise<boolean>): Promise<void> {
  entry.set({ busy: true, problem: undefined });
  try {
    if (await work()) entry.set({ busy: false, problem: undefined });
  } catch (error) {
    entry.set({ busy: false, problem: Problem.of(error) });
  }
}

async function enterWithAnswer(query: URLSearchParams, pending: Pending | undefined): Promise<boolean> {
  // If this fails, the next attempt asks who the user is. A session that begins forgets it.
  keepSignedOut();
  const token = await tokenFor(query, pending);
  // Stored before the first API request, so that a retry needs no new code.
  keepToken(token);
  try {
    beginSession(token, await readMe(token));
  } catch (error) {
    if (!isRefused(error)) throw error;
    forgetToken();
    throw new Problem(`${issuerName} knows you, but Truckroll does not know you as a user of a company. Ask who manages the users of your company.`, {
      code: 'SIGN_IN',
      ...(error.requestId === undefined ? {} : { requestId: error.requestId }),
    });
  }
  return true;
}

async function enterWithKept(token: string): Promise<boolean> {
  const endsAt = endOf(token);
  if (endsAt !== undefined && endsAt.getTime() <= Date.now()) return ended(EXPIRED);
  try {
    beginSession(token, await readMe(token));
  } catch (error) {
    if (!isRefused(error)) throw error;
    return ended(error.message);
  }
  return true;
}

function ended(reason: string): true {
  forgetToken();
  session.set({ ...session.value, reason });
  return true;
}

async function leaveForIssuer(): Promise<boolean> {
  const pending = newPending(location.hash);
  const address = await addressToSignIn(pending, hasSignedOut());
  keepPending(pending);
  // Not an entry of the history, because going back to it would lead to the issuer again.
  location.replace(address);
  return false;
}

const isRefused = (error: unknown): error is Problem => error instanceof Problem && error.status === 401;
