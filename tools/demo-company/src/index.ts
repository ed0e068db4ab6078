export { generateInvoices, type BenchmarkCompany } from './benchmarks/invoices.ts';
export { generateVisits } from './benchmarks/visits.ts';
export { describeCompany, generateCompany, type DemoFile, type DemoRecord } from './generate.ts';
export { SIZES, type DemoOptions } from './options.ts';
