import { listEventTypes } from '../api/integrations.ts';
import { Page } from '../parts/page.tsx';
import { Prose } from '../parts/prose.tsx';
import { useResource } from '../state/resource.ts';

export function EventTypes() {
  const types = useResource('event-types', listEventTypes);
  return (
    <Page title="Event types" live={[types]}>
      <p class="lead">What endpoints can subscribe to. The payloads are in <a href="docs" target="_blank" rel="noopener">the reference (in a new tab)</a>.</p>
      {types.value && (
        <dl class="event-types">
          {types.value.map(({ type, description }) => <div key={type}><dt><code>{type}</code></dt><dd><Prose text={description} /></dd></div>)}
        </dl>
      )}
    </Page>
  );
}
