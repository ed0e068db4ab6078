export { DEFINITIONS, measuresOf, type SummaryDefinition } from '../facts/definitions.ts';
export { DuePeriods } from '../sums/due.ts';
export { readPage } from './page.ts';
export type { ReportQuestion } from './sources.ts';
export { sumRound } from '../sums/task.ts';
