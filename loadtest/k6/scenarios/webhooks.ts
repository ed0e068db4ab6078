// The life cycle of a webhook endpoint that is always disabled, so that nothing is sent to it.
import { parsed, type Client, type Turn, type World } from './api.ts';

export const ENDPOINTS = '/api/v1/integrations/webhooks';

/** Name that identifies the endpoints of a run. */
export function endpointName(run: string, number: number | ''): string {
  return `load ${run} ${number}`;
}

export async function webhook(client: Client, { credentials: { userToken: credential }, run }: World, { number }: Turn): Promise<void> {
  if (credential === undefined) return;
  const body = { name: endpointName(run, number), url: 'https://receiver.example.com/hook', eventTypes: ['service_request.created'], enabled: false };
  const created = await client.ask('webhook_create', { method: 'POST', path: ENDPOINTS, credential, body, expect: [201] });
  if (created.status !== 201) return;
  const { id, signingSecret } = parsed<{ data: { id: string; signingSecret?: string } }>(created).data;
  if (signingSecret === undefined) client.wrong('webhook_create', 'the answer has no signingSecret');
  const path = `${ENDPOINTS}/${id}`;
  const listed = await client.ask('webhook_list', { path: ENDPOINTS, credential, expect: [200] });
  if (listed.status === 200 && listed.body.includes('signingSecret')) client.wrong('webhook_list', 'the list contains a signingSecret');
  await client.ask('webhook_change', { method: 'PATCH', path, credential, body: { name: `${body.name} again` }, expect: [200] });
  await client.ask('webhook_health', { path: `${path}/health`, credential, expect: [200] });
  await client.ask('webhook_delete', { method: 'DELETE', path, credential, expect: [200, 204] });
}
