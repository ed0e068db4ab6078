export { generateInvoices, type BenchmarkCompany, type InvoiceOptions } from './benchmarks/invoices.ts';
export { generateVisits, type VisitOptions } from './benchmarks/visits.ts';
export { describeCompany, generateCompany, type DemoFile, type DemoRecord } from './generate.ts';
export { SIZES, type DemoOptions, type NamedSize, type Size } from './options.ts';
