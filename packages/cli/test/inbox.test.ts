import { createClient } from '@truckroll/client';
import { openInbox } from '../src/listen/inbox.ts';

test('says that its endpoint is gone, and takes that for removed at the end', async () => {
  const { signal } = new AbortController();
  const expiresAt = new Date(Date.now() + 900_000).toISOString();
  const endpoint = { id: '0190a000-0000-7000-8000-000000000001', signingSecret: 'whsec_x', createdAt: new Date().toISOString(), expiresAt };
  const gone = { error: { code: 'NOT_FOUND', message: 'no', request_id: 'r' } };
  const fetch = (_: string, { method }: RequestInit): Promise<Response> =>
    Promise.resolve(method === 'POST' ? Response.json({ data: endpoint }, { status: 201 }) : Response.json(gone, { status: 404 }));
  const inbox = await openInbox(createClient({ baseUrl: 'http://api', token: 'a-token', fetch }), ['service_request.created'], signal);
  await expect(inbox.read()).rejects.toThrow(`expired at ${expiresAt} or was removed, as after a suspension: start \`truckroll listen\` again`);
  await inbox.close();
});
