import { listEventTypes } from '../api/integrations.ts';
import { Freshness, Page } from '../parts/page.tsx';
import { Prose } from '../parts/prose.tsx';
import { useResource } from '../state/resource.ts';

export function EventTypes() {
  const types = useResource('event-types', listEventTypes);
  return (
    <Page title="Event types">
      <p class="lead">What endpoints can subscribe to. The payloads are in <a href="docs">the reference</a>.</p>
      {types.value && (
        <dl class="event-types">
          {types.value.map(({ type, description }) => <div key={type}><dt><code>{type}</code></dt><dd><Prose text={description} /></dd></div>)}
        </dl>
      )}
      <Freshness of={[types]} />
    </Page>
  );
}
