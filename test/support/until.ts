const EVERY_MS = 50;
/** Events between services have no end to await from outside, so their effect is asked for until it shows. */
const AT_MOST_MS = 30_000;

/** Resolves when the condition holds. Rejects when it does not for a long time, which no load explains. */
export async function until(condition: () => Promise<boolean>, atMostMs = AT_MOST_MS, everyMs = EVERY_MS): Promise<void> {
  for (const startedAt = Date.now(); !(await condition()); ) {
    if (Date.now() - startedAt > atMostMs) throw new Error('what was waited for did not happen');
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
