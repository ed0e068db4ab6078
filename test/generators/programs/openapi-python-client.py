import json
import os
from uuid import UUID

from truckroll import AuthenticatedClient
from truckroll.api.company import get_company
from truckroll.api.invoices import get_invoice, list_invoices
from truckroll.models import ErrorResponse, GetCompanyResult, InvoiceStatus, ListInvoicesResult, WebhookTest

client = AuthenticatedClient(base_url=os.environ["TRUCKROLL_URL"], token=os.environ["TRUCKROLL_API_KEY"])
company = get_company.sync(client=client)
assert isinstance(company, GetCompanyResult)
page = list_invoices.sync(client=client, status=[InvoiceStatus.OPEN, InvoiceStatus.PAID], limit=2)
assert isinstance(page, ListInvoicesResult)
invoice = page.data[0]
refused = get_invoice.sync(UUID("00000000-0000-4000-8000-000000000000"), client=client)
assert isinstance(refused, ErrorResponse)
event = WebhookTest.from_dict({
    "id": "0b0e3f0e-5c53-4b43-9a3f-5b8f3a3a9d11", "type": "webhook.test", "timestamp": "2026-03-01T12:04:05.123456Z",
    "company_id": "7d1c0e3f-5c53-4b43-9a3f-5b8f3a3a9d11", "sequence": 1, "data": {"webhook_id": "5c53e3f0-5c53-4b43-9a3f-5b8f3a3a9d11", "message": "A test."},
})
print(json.dumps([company.data.name, invoice.number, invoice.amounts.open_balance_cents, refused.error.code, event.type_], separators=(",", ":"), ensure_ascii=False))
