import { useEffect, useRef, useState } from 'preact/hooks';
import { readMe } from '../api/integrations.ts';
import { ProblemBox } from '../parts/problem-box.tsx';
import { useAction } from '../state/action.ts';
import { beginSession, misfit, tokenIn } from '../state/session.ts';

/** Asks for a user token and tries it, where no issuer is configured. */
export function TokenForm() {
  const action = useAction();
  const [wrong, setWrong] = useState<string | undefined>(undefined);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);

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
    <>
      <ProblemBox problem={action.problem} title={action.problem?.status === 401 ? 'This token was not accepted.' : 'Signing in failed.'} />
      <form class="panel" onSubmit={submit} noValidate>
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
            From your identity provider. This tab keeps it until it expires, you sign out or you close the tab.
          </p>
        </div>
        <button type="submit" class="primary wide" disabled={action.busy}>
          {action.busy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </>
  );
}
