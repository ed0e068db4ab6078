import { useState } from 'preact/hooks';
import { createKey } from '../api/integrations.ts';
import type { ApiKeyWithValue } from '../api/types.ts';
import { Field, typed, requireWholeMoments } from '../parts/field.tsx';
import { Page } from '../parts/page.tsx';
import { ProblemBox } from '../parts/problem-box.tsx';
import { SecretOnce } from '../parts/secret-once.tsx';
import { MOMENT, instantOf, zone } from '../parts/time.tsx';
import { useAction } from '../state/action.ts';
import { announce } from '../state/notice.ts';
import { go, goInstead, places } from '../state/route.ts';

export function NewKey() {
  const action = useAction();
  const [created, setCreated] = useState<ApiKeyWithValue | undefined>(undefined);

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const expires = typed(form, 'expiresAt');
    const element = event.currentTarget as HTMLFormElement;
    void action.run(async () => {
      requireWholeMoments(element);
      setCreated(await createKey({ name: typed(form, 'name'), ...(expires === '' ? {} : { expiresAt: instantOf(expires) }) }));
    });
  }

  return (
    <Page title="Create API key" above={{ title: 'API keys', href: places.keys }}>
      <form class="form" onSubmit={submit} noValidate>
        <ProblemBox problem={action.problem} title="The key was not created." shownElsewhere={['name', 'expiresAt']} focus />
        <Field name="name" label="Name" hint="What it is for; a key for each program lets you revoke one without the others." problem={action.problem}>
          {(ties) => <input {...ties} type="text" maxLength={100} required autocomplete="off" />}
        </Field>
        <Field
          name="expiresAt"
          label="Expires"
          hint={`In the company’s time zone, ${zone()}. Leave it empty for a key that does not end by itself.`}
          problem={action.problem}
        >
          {(ties) => <input {...ties} {...MOMENT} />}
        </Field>
        <div class="buttons">
          <button type="submit" class="primary" disabled={action.busy}>
            {action.busy ? 'Creating…' : 'Create key'}
          </button>
          <button type="button" onClick={() => go(places.keys)}>
            Cancel
          </button>
        </div>
      </form>
      {created !== undefined && (
        <SecretOnce
          title={`${created.name} is ready`}
          what="API key"
          value={created.key}
          onDone={() => {
            goInstead(places.keys);
            announce(`${created.name} was created.`);
          }}
        >
          <p>
            Send it in the header <code>Authorization: Bearer …</code>, and keep it out of addresses and source code.
          </p>
        </SecretOnce>
      )}
    </Page>
  );
}
