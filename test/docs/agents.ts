// Whether programs that read documentation find and can use this one: the checks of https://agentdocsspec.com.
import { runChecks } from 'afdocs';
import type { Target } from './target.ts';

/** Checks that a page or the site cannot pass, with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {};

/** Every page is looked at. Resolves to what a check found, a line each. */
export async function checkForAgents({ url }: Target): Promise<string[]> {
  const { results } = await runChecks(`${url}/docs`, { samplingStrategy: 'none', requestDelay: 0, llmsTxtUrl: `${url}/llms.txt`, maxConcurrency: 2 });
  return results
    .filter(({ id, status }) => ['warn', 'fail', 'error'].includes(status) && LEFT_OUT[id] === undefined)
    .map(({ id, status, message }) => `afdocs, ${id}: ${status}: ${message}`);
}
