export { erasure } from './erasure.ts';
export type { TableRule } from './tables.ts';
export type { PersonStep } from './options.ts';
export { companyExport, type ExportedTable } from './export.ts';
