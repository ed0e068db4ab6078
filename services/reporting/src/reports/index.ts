export { DEFINITIONS, NONE, SUMMARIES_VERSION, measuresOf, type SummaryDefinition } from '../facts/definitions.ts';
export { readPage } from './page.ts';
export type { ReportQuestion } from './sources.ts';
