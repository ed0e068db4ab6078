// What the baseline derives at every read (api.md, InvoiceAmounts and Aging).

interface Recorded {
  status?: string;
  subtotal_cents?: number;
  discount_cents?: number;
  tax_cents?: number;
}

export function amountsOf(recorded: Recorded, applications: readonly { applied_cents: number; payment_status: string | null }[]): object {
  const { status, subtotal_cents = 0, discount_cents = 0, tax_cents = 0 } = recorded;
  const discounted_subtotal_cents = subtotal_cents - discount_cents;
  const total_cents = discounted_subtotal_cents + tax_cents;
  let paid_cents = 0;
  let processing_cents = 0;
  for (const { payment_status: payment, applied_cents: cents } of applications) {
    if (payment === 'PAID') paid_cents += cents;
    else if (payment === 'PENDING' || payment === 'PROCESSING') processing_cents += cents;
  }
  const open_balance_cents = status === 'OPEN' ? total_cents - paid_cents - processing_cents : 0;
  return { subtotal_cents, discount_cents, discounted_subtotal_cents, tax_cents, total_cents, paid_cents, processing_cents, open_balance_cents };
}

export function bucketOf(days: number | null): string {
  if (days === null || days <= 0) return 'CURRENT';
  if (days <= 30) return 'PAST_DUE_1_30';
  if (days <= 60) return 'PAST_DUE_31_60';
  return days <= 90 ? 'PAST_DUE_61_90' : 'PAST_DUE_91_PLUS';
}
