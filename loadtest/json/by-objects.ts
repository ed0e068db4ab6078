// The usual way from a message to JSON: decode, map to the public names, stringify. Written by hand for invoices, for speed; a loop over
// field descriptions would be slower still.
import { formatInstant } from '@truckroll/contract';
import { ListInvoicesResponse, type Invoice } from '@truckroll/contract/gen/billing/v1/invoices';
import type { Reference } from '@truckroll/contract/gen/type/v1/type';

export function writeByObjects(bytes: Uint8Array): Buffer {
  return Buffer.from(JSON.stringify({ data: ListInvoicesResponse.decode(bytes).data.map(publicInvoice) }));
}

function publicInvoice(invoice: Invoice) {
  return {
    id: invoice.id,
    number: invoice.number,
    status: invoice.status.slice('INVOICE_STATUS_'.length),
    account: reference(invoice.account),
    job_id: invoice.job_id ?? null,
    location_id: invoice.location_id ?? null,
    maintenance_plan_id: invoice.maintenance_plan_id ?? null,
    business_unit: reference(invoice.business_unit),
    job_type: reference(invoice.job_type),
    created_by: reference(invoice.created_by),
    job_class: invoice.job_class?.slice('JOB_CLASS_'.length) ?? null,
    created_at: formatInstant(invoice.created_at),
    updated_at: formatInstant(invoice.updated_at),
    issued_at: instant(invoice.issued_at),
    due_at: instant(invoice.due_at),
    currency: invoice.currency,
    pricing_multiplier: invoice.pricing_multiplier,
    line_items: invoice.line_items.map((line) => ({
      id: line.id,
      position: line.position,
      name: line.name,
      description: line.description,
      quantity: line.quantity,
      unit_price_cents: line.unit_price_cents,
      subtotal_cents: line.subtotal_cents,
      taxable: line.taxable,
      discountable: line.discountable,
    })),
    discounts: invoice.discounts.map((discount) => ({
      id: discount.id,
      name: discount.name,
      type: discount.type.slice('DISCOUNT_TYPE_'.length),
      amount_cents: discount.amount_cents ?? null,
      rate: discount.rate ?? null,
    })),
    tax: invoice.tax && {
      name: invoice.tax.name,
      rate: invoice.tax.rate,
      rounding: invoice.tax.rounding.slice(invoice.tax.rounding.lastIndexOf('_') + 1).toLowerCase(),
    },
    amounts: invoice.amounts,
    payment_applications: invoice.payment_applications.map((application) => ({
      payment_id: application.payment_id,
      applied_cents: application.applied_cents,
      payment_status: application.payment_status?.slice('PAYMENT_STATUS_'.length) ?? null,
    })),
    aging: invoice.aging ? { days_past_due: invoice.aging.days_past_due ?? null, bucket: invoice.aging.bucket.slice('AGING_BUCKET_'.length) } : null,
  };
}

function reference(value: Reference | null | undefined): { id: string; name: string } | null {
  return value == null ? null : { id: value.id, name: value.name };
}

function instant(micros: number | null | undefined): string | null {
  return micros == null ? null : formatInstant(micros);
}
