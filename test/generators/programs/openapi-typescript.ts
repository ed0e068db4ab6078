import createClient from 'openapi-fetch';
import type { components, paths, webhooks } from './api.js';

const client = createClient<paths>({ baseUrl: process.env['TRUCKROLL_URL']!, headers: { authorization: `Bearer ${process.env['TRUCKROLL_API_KEY']}` } });
const company = await client.GET('/v1/company');
const invoices = await client.GET('/v1/invoices', { params: { query: { status: ['OPEN', 'PAID'], limit: 2 } } });
const [invoice] = invoices.data!.data;
const refused = await client.GET('/v1/invoices/{id}', { params: { path: { id: '00000000-0000-4000-8000-000000000000' } } });
const code: components['schemas']['ApiError']['code'] | undefined = refused.error?.error.code;
type Test = webhooks['webhook.test']['post']['requestBody']['content']['application/json'];
const event: Pick<Test, 'type'> = { type: 'webhook.test' };
console.log(JSON.stringify([company.data?.data.name, invoice?.number, invoice?.amounts.open_balance_cents, code, event.type]));
