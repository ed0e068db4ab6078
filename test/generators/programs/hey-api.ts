import { client } from './sdk/client.gen.js';
import { getCompany, getInvoice, listInvoices, type ApiError, type WebhookTest } from './sdk/index.js';

client.setConfig({ baseUrl: process.env['TRUCKROLL_URL']!, auth: () => process.env['TRUCKROLL_API_KEY']! });
const company = await getCompany();
const invoices = await listInvoices({ query: { status: ['OPEN', 'PAID'], limit: 2 } });
const [invoice] = invoices.data!.data;
const refused = await getInvoice({ path: { id: '00000000-0000-4000-8000-000000000000' } });
const code: ApiError['code'] | undefined = refused.error?.error.code;
const event: Pick<WebhookTest, 'type'> = { type: 'webhook.test' };
console.log(JSON.stringify([company.data?.data.name, invoice?.number, invoice?.amounts.open_balance_cents, code, event.type]));
