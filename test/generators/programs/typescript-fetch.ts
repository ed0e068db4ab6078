import { CompanyApi, Configuration, InvoiceStatus, InvoicesApi, ResponseError, WebhookTestTypeEnum, type WebhookTest } from './client/index.js';

const configuration = new Configuration({ basePath: process.env['TRUCKROLL_URL']!, accessToken: process.env['TRUCKROLL_API_KEY']! });
const api = new InvoicesApi(configuration);
const company = await new CompanyApi(configuration).getCompany();
const {
  data: [invoice],
} = await api.listInvoices({ status: [InvoiceStatus.Open, InvoiceStatus.Paid], limit: 2 });
const refused = await api.getInvoice({ id: '00000000-0000-4000-8000-000000000000' }).catch((error: unknown) => error);
if (!(refused instanceof ResponseError)) throw refused;
const { error } = (await refused.response.json()) as { error: { code: string } };
const event: Pick<WebhookTest, 'type'> = { type: WebhookTestTypeEnum.WebhookTest };
console.log(JSON.stringify([company.data.name, invoice?.number, invoice?.amounts.openBalanceCents, error.code, event.type]));
