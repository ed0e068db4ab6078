export { erasure } from './erasure.ts';
export type { TableRule } from './tables.ts';
