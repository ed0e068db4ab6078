import { useRef, useState } from 'preact/hooks';
import { createEndpoint, listEventTypes, readEndpoint, updateEndpoint, type EndpointFields } from '../api/integrations.ts';
import type { Endpoint, EndpointWithSecret, EventType } from '../api/types.ts';
import { Field, messagesFor, typed } from '../parts/field.tsx';
import { Page } from '../parts/page.tsx';
import { ProblemBox } from '../parts/problem-box.tsx';
import { Prose } from '../parts/prose.tsx';
import { SecretOnce } from '../parts/secret-once.tsx';
import { useAction } from '../state/action.ts';
import { tell } from '../state/notice.ts';
import { useResource } from '../state/resource.ts';
import { go, goInstead, places } from '../state/route.ts';

const FIELDS = ['name', 'url', 'eventTypes', 'enabled'];

export function NewEndpoint() {
  const types = useResource('event-types', listEventTypes);
  const [created, setCreated] = useState<EndpointWithSecret | undefined>(undefined);
  return (
    <Page title="Add endpoint" above={{ title: 'Webhook endpoints', href: places.endpoints }}>
      {types.value === undefined ? (
        <ProblemBox problem={types.problem} />
      ) : (
        <EndpointForm
          types={types.value}
          verb="Add endpoint"
          failed="The endpoint was not added."
          onCancel={() => go(places.endpoints)}
          onSave={async (fields) => setCreated(await createEndpoint(fields))}
        />
      )}
      {created !== undefined && (
        <SecretOnce
          title="Your endpoint is ready"
          what="signing secret"
          value={created.signingSecret}
          onDone={() => {
            tell(`${created.name} was added. Send a test to see whether it answers.`);
            goInstead(places.endpoint(created.id));
          }}
        >
          <p>Your server verifies with it that what arrives comes from Truckroll, by any Standard Webhooks library.</p>
        </SecretOnce>
      )}
    </Page>
  );
}

export function EditEndpoint({ id }: { id: string }) {
  // A form must not change while the user types: its values are loaded once, and only changed fields are saved.
  const types = useResource('event-types', listEventTypes);
  const endpoint = useResource(`edit ${id}`, (signal) => readEndpoint(id, signal));
  const first = useRef<Endpoint | undefined>(undefined);
  first.current ??= endpoint.value;
  const known = first.current;
  return (
    <Page title={known === undefined ? 'Edit endpoint' : `Edit ${known.name}`} above={{ title: known?.name ?? 'Endpoint', href: places.endpoint(id) }}>
      {types.value === undefined || known === undefined ? (
        <ProblemBox problem={endpoint.problem ?? types.problem} />
      ) : (
        <EndpointForm
          known={known}
          types={types.value}
          verb="Save changes"
          failed="The changes were not saved."
          onCancel={() => go(places.endpoint(id))}
          onSave={async (fields) => {
            const { name } = await updateEndpoint(id, changed(fields, known));
            tell(`${name} was saved.`);
            goInstead(places.endpoint(id));
          }}
        />
      )}
    </Page>
  );
}

/** Only the changed fields, so that other people's changes are kept. */
function changed(fields: Required<EndpointFields>, known: Endpoint): EndpointFields {
  const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => !same(value, known[name as keyof Endpoint])));
}

interface Given {
  known?: Endpoint;
  types: readonly EventType[];
  verb: string;
  failed: string;
  onSave: (fields: Required<EndpointFields>) => Promise<void>;
  onCancel: () => void;
}

function EndpointForm({ known, types, verb, failed, onSave, onCancel }: Given) {
  const action = useAction();
  const typeErrors = [...new Set(messagesFor(action.problem, 'eventTypes'))];
  const enabledErrors = messagesFor(action.problem, 'enabled');

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    void action.run(() =>
      onSave({ name: typed(form, 'name'), url: typed(form, 'url'), eventTypes: form.getAll('eventTypes').map(String), enabled: form.has('enabled') }),
    );
  }

  return (
    <form class="form" onSubmit={submit} noValidate>
      <ProblemBox problem={action.problem} title={failed} shownElsewhere={FIELDS} focus />
      <Field name="name" label="Name" hint="What it is for, as you will find it in the list." problem={action.problem}>
        {(ties) => <input {...ties} type="text" defaultValue={known?.name ?? ''} maxLength={100} required autocomplete="off" />}
      </Field>
      <Field name="url" label="URL" hint="An https address of a public host. Give the final one: redirects are failures." problem={action.problem}>
        {(ties) => (
          <input
            {...ties}
            type="url"
            inputMode="url"
            defaultValue={known?.url ?? ''}
            maxLength={2048}
            required
            placeholder="https://"
            autocomplete="off"
            spellcheck={false}
          />
        )}
      </Field>
      <fieldset aria-describedby={typeErrors.length > 0 ? 'eventTypes-error' : undefined}>
        <legend>Events</legend>
        {typeErrors.length > 0 && (
          <p class="error" id="eventTypes-error">
            {typeErrors.join(' ')}
          </p>
        )}
        {types.map(({ type, description }) => (
          <label key={type} class="choice">
            <input type="checkbox" name="eventTypes" value={type} defaultChecked={known === undefined || known.eventTypes.includes(type)} />
            <span>
              <code>{type}</code>
              <span class="hint">
                <Prose text={description} />
              </span>
            </span>
          </label>
        ))}
      </fieldset>
      <label class="choice">
        <input
          type="checkbox"
          name="enabled"
          defaultChecked={known?.enabled ?? true}
          aria-describedby={enabledErrors.length > 0 ? 'enabled-error' : undefined}
        />
        <span>
          Enabled<span class="hint">While it is not, events are kept as skipped for 30 days and can be recovered.</span>
        </span>
      </label>
      {enabledErrors.length > 0 && (
        <p class="error" id="enabled-error">
          {enabledErrors.join(' ')}
        </p>
      )}
      <div class="buttons">
        <button type="submit" class="primary" disabled={action.busy}>
          {action.busy ? 'Saving…' : verb}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
