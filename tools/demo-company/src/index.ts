export { generateInvoices } from './benchmarks/invoices.ts';
export { generateVisits } from './benchmarks/visits.ts';
export { describeCompany, generateCompany } from './generate.ts';
export { generateRequests } from './scheduling/service-requests.ts';
export { SIZES, type DemoOptions } from './options.ts';
export type { DemoFile, DemoRecord } from './company.ts';
