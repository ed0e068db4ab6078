import { useRef, useState } from 'preact/hooks';
import { createEndpoint, listEventTypes, readEndpoint, updateEndpoint, type EndpointFields } from '../api/integrations.ts';
import { STATES, type Endpoint, type EndpointState, type EndpointWithSecret, type EventType } from '../api/types.ts';
import { STATE_NAMES } from '../parts/badge.tsx';
import { Field, messagesFor, typed } from '../parts/field.tsx';
import { Page } from '../parts/page.tsx';
import { ProblemBox } from '../parts/problem-box.tsx';
import { Prose } from '../parts/prose.tsx';
import { SecretOnce } from '../parts/secret-once.tsx';
import { useAction } from '../state/action.ts';
import { announce } from '../state/notice.ts';
import { useResource } from '../state/resource.ts';
import { go, goInstead, places } from '../state/route.ts';
import { session } from '../state/session.ts';
import { AlertEmails, addressesIn } from './alert-emails.tsx';
import { FilterFields, useFilterForm } from './filter-fields.tsx';
import { HeaderFields, headersIn } from './header-fields.tsx';

const FIELDS = ['name', 'url', 'eventTypes', 'filter', 'maxPerSecond', 'headers', 'alertEmails', 'state'];

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
            announce(`${created.name} was added. Send a test to see whether it answers.`);
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
            const { state: _state, ...settings } = fields;
            const { name } = await updateEndpoint(id, changed(settings, known));
            announce(`${name} was saved.`);
            goInstead(places.endpoint(id));
          }}
        />
      )}
    </Page>
  );
}

/** Only the changed fields, so that other people's changes are kept. */
function changed(fields: EndpointFields, known: Endpoint): EndpointFields {
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
  const [chosen, setChosen] = useState<readonly string[]>(() => known?.eventTypes ?? types.map(({ type }) => type));
  const filterForm = useFilterForm(known?.filter ?? null, chosen);
  const typeErrors = [...new Set(messagesFor(action.problem, 'eventTypes'))];

  const choose = (type: string, on: boolean) =>
    setChosen((before) => types.map((each) => each.type).filter((each) => (each === type ? on : before.includes(each))));

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const rate = typed(form, 'maxPerSecond');
    void action.run(async () => {
      filterForm.check();
      await onSave({
        name: typed(form, 'name'),
        url: typed(form, 'url'),
        eventTypes: chosen,
        filter: filterForm.filter,
        maxPerSecond: rate === '' ? null : Number(rate),
        headers: headersIn(form),
        alertEmails: addressesIn(typed(form, 'alertEmails')),
        state: (typed(form, 'state') || 'ENABLED') as EndpointState,
      });
    });
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
            <input
              type="checkbox"
              name="eventTypes"
              value={type}
              checked={chosen.includes(type)}
              onChange={(event) => choose(type, event.currentTarget.checked)}
            />
            <span>
              <code>{type}</code>
              <span class="hint">
                <Prose text={description} />
              </span>
            </span>
          </label>
        ))}
      </fieldset>
      <FilterFields form={filterForm} types={chosen} saving={action} />
      <Field name="maxPerSecond" label="Rate limit" hint="Most requests a second, from 1 to 1000. Leave it empty for no limit." problem={action.problem}>
        {(ties) => (
          <input {...ties} type="number" inputMode="numeric" min={1} max={1000} step={1} defaultValue={known?.maxPerSecond ?? ''} autocomplete="off" />
        )}
      </Field>
      <HeaderFields known={known?.headers ?? []} problem={action.problem} />
      <AlertEmails known={known?.alertEmails ?? [session.value.me?.email ?? '']} problem={action.problem} />
      {known === undefined && (
        <Field
          name="state"
          label="State"
          hint="Events wait for a paused endpoint, for up to five days. For a disabled one they are kept as skipped."
          problem={action.problem}
        >
          {(ties) => (
            <select {...ties}>
              {STATES.map((state) => (
                <option key={state} value={state}>
                  {STATE_NAMES[state]}
                </option>
              ))}
            </select>
          )}
        </Field>
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
