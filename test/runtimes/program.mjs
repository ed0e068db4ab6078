// What the client does on every runtime: pages, one record, an error, an aborted call, the change feed and a webhook. The first argument is
// the package, which each runtime imports in its own way.
export async function program({ createClient, verifyWebhook }, { baseUrl, token, secret, headers, body }) {
  const client = createClient({ baseUrl, token });
  const numbers = [];
  for await (const { number } of client.invoices.list({ status: ['OPEN'], limit: 20 })) numbers.push(number);
  const { data: company } = await client.company.get();
  const missing = await client.invoices.get('00000000-0000-4000-8000-000000000000').catch((error) => error);
  const aborted = await client.get('/v1/company', { signal: AbortSignal.abort(new Error('stopped')) }).catch((error) => error);
  let changes = 0;
  for await (const { data } of client.changes({ kinds: ['payments'], limit: 500 })) changes += data.length;
  const { type } = verifyWebhook(secret, headers, body);
  let forged = '';
  try {
    verifyWebhook(secret, headers, `${body} `);
  } catch (error) {
    forged = error.name;
  }
  return JSON.stringify([company.name, numbers.length, numbers.at(-1), missing.name, missing.code, aborted.message, changes, type, forged]);
}
