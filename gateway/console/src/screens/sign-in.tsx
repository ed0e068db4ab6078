import { useEffect, useRef, useState } from 'preact/hooks';
import { readMe } from '../api/integrations.ts';
import { ProblemBox } from '../parts/problem-box.tsx';
import { useAction } from '../state/action.ts';
import { beginSession, misfit, session, tokenIn } from '../state/session.ts';
import { useStore } from '../state/store.ts';

/** Asks for a user token and tries it. The address stays, so that the user arrives at the requested screen. */
export function SignIn() {
  const { reason } = useStore(session);
  const action = useAction();
  const [wrong, setWrong] = useState<string | undefined>(undefined);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    document.title = 'Sign in · Truckroll console';
    input.current?.focus();
  }, []);

  function submit(event: Event): void {
    event.preventDefault();
    const field = input.current as HTMLInputElement;
    const text = tokenIn(field.value);
    const unfit = misfit(text);
    setWrong(unfit);
    action.clear();
    if (unfit !== undefined) {
      field.focus();
      return;
    }
    void action.run(async () => {
      const me = await readMe(text);
      field.value = '';
      beginSession(text, me);
    });
  }

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
      <ProblemBox problem={action.problem} title={action.problem?.status === 401 ? 'This token was not accepted.' : 'Signing in failed.'} />
      <form onSubmit={submit} noValidate>
        <div class="field">
          <label for="token">User token</label>
          <input
            ref={input}
            id="token"
            type="password"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            required
            aria-describedby={wrong === undefined ? 'token-hint' : 'token-error token-hint'}
            aria-invalid={wrong !== undefined}
          />
          {wrong !== undefined && (
            <p class="error" id="token-error" role="alert">
              {wrong}
            </p>
          )}
          <p class="hint" id="token-hint">
            From your identity provider; where Truckroll was started by <code>npm start</code>, the start prints one and <code>npx truckroll token</code> makes
            more. It stays in this page’s memory: reloading the page or closing it forgets it.
          </p>
        </div>
        <button type="submit" class="primary wide" disabled={action.busy}>
          {action.busy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}
