export { DEFINITIONS, NONE, SUMMARIES_VERSION, measuresOf, type SummaryDefinition } from '../facts/definitions.ts';
export { readPage, type ReportPage } from './page.ts';
export { dateOf } from './periods.ts';
export type { ReportQuestion } from './sources.ts';
