import { useEffect, useRef } from 'preact/hooks';
import { hasIssuer, issuerName } from '../api/issuer.ts';
import { ProblemBox } from '../parts/problem-box.tsx';
import { entry, signInAtIssuer } from '../state/entry.ts';
import { session } from '../state/session.ts';
import { useStore } from '../state/store.ts';
import { TokenForm } from './token-form.tsx';

/** Where people sign in. The place in the address stays, so that they arrive at the requested screen. */
export function SignIn() {
  const { reason } = useStore(session);
  const { busy, problem } = useStore(entry);
  useEffect(() => {
    document.title = 'Sign in · Truckroll console';
  }, []);
  return (
    <main id="main" class="sign-in" tabIndex={-1}>
      <h1>
        <img src="console/icon.svg" alt="" width="40" height="40" /> Truckroll console
      </h1>
      {reason !== undefined && (
        <div class="warning" role="alert">
          <strong>Your session has ended.</strong> {reason} Sign in again to go on where you were.
        </div>
      )}
      <ProblemBox problem={problem} title="You are not signed in." />
      {hasIssuer ? <AtIssuer busy={busy} /> : busy ? <p role="status">Signing in…</p> : <TokenForm />}
    </main>
  );
}

function AtIssuer({ busy }: { busy: boolean }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), [busy]);
  return (
    <div class="panel">
      <button ref={button} type="button" class="primary wide" disabled={busy} onClick={() => void signInAtIssuer()}>
        {busy ? 'Signing in…' : `Sign in with ${issuerName}`}
      </button>
      <p class="hint" role="status">
        {busy ? `${issuerName} is asked who you are.` : `You say who you are at ${issuerName}, and come back here.`}
      </p>
    </div>
  );
}
