// Whether programs that read documentation find and can use this one: the checks of https://agentdocsspec.com.
import { runChecks } from 'afdocs';
import type { Target } from './target.ts';

/** Characters of a page. The reference of webhooks has 63,000 as HTML, and fewer as Markdown. */
const LENGTHS = { pass: 70_000, fail: 100_000 };
/** More than there are. */
const MOST_PAGES = 200;

/** Every page is looked at. Resolves to what a check found, a line each. */
export async function checkForAgents({ url }: Target): Promise<string[]> {
  const { results } = await runChecks(`${url}/docs`, {
    llmsTxtUrl: `${url}/llms.txt`,
    samplingStrategy: 'deterministic',
    maxLinksToTest: MOST_PAGES,
    maxConcurrency: 2,
    requestDelay: 0,
    // Marks, samples in further languages and examples behind a click are for people.
    parityExclusions: ['.anchor', '.samples', '.shown', '.note', '.type', 'details'],
    thresholds: LENGTHS,
  });
  return results.filter(({ status }) => ['warn', 'fail', 'error'].includes(status)).map(({ id, status, message }) => `afdocs, ${id}: ${status}: ${message}`);
}
