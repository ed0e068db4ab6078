export { erasure } from './erasure.ts';
export { freezing } from './freeze.ts';
export { IN_DEAD_LETTERS, STAYS, type TableRule } from './tables.ts';
export type { KnownPerson, PersonStep } from './options.ts';
export { personOf } from './request.ts';
export { companyExport, type ExportedTable } from './export.ts';
