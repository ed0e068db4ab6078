import { registered } from '@truckroll/record-store';
import { estimates } from './estimates.ts';
import { invoices } from './invoices.ts';
import { payments } from './payments.ts';
import { refunds } from './refunds.ts';

export const tables = registered('billing', { invoices, payments, refunds, estimates });
