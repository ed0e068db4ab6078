export { DEFINITIONS, NONE, SUMMARIES_VERSION, measuresOf, type SummaryDefinition } from '../summaries/definitions.ts';
export { readPage, type Page } from './page.ts';
export { dateOf } from './periods.ts';
export type { Question } from './sources.ts';
