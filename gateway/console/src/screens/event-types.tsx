import { listEventTypes } from '../api/integrations.ts';
import { BodyText } from '../parts/body-text.tsx';
import { Page } from '../parts/page.tsx';
import { Prose } from '../parts/prose.tsx';
import { useResource } from '../state/resource.ts';

/** The catalogue of events that endpoints can subscribe to, with an example of each. */
export function EventTypes() {
  const types = useResource('event-types', listEventTypes);
  return (
    <Page title="Event types" live={[types]}>
      <p class="lead">
        What endpoints can subscribe to. What each field means is in{' '}
        <a href="docs" target="_blank" rel="noopener">
          the reference (in a new tab)
        </a>
        .
      </p>
      {types.value?.map(({ type, description, example }) => (
        <article key={type} class="event-type" aria-labelledby={type}>
          <h2 id={type}>
            <code>{type}</code>
          </h2>
          <p>
            <Prose text={description} />
          </p>
          {example !== '' && (
            <details>
              <summary>
                Payload<span class="unseen"> of {type}</span>
              </summary>
              <BodyText what={`payload of ${type}`} text={JSON.stringify(JSON.parse(example), null, 2)} />
            </details>
          )}
        </article>
      ))}
    </Page>
  );
}
