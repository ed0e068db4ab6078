import type { AfterChange } from '@truckroll/record-store';
export const publishInvoices: AfterChange<any> = async () => {};
