// Carries out the tasks by a scripted client, and grades them by the records that the API returns.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@truckroll/local-stack';
import { call, tokensOf, type Caller } from '../../gateway/test/support/mcp.ts';
import { readAll } from '../reports/oracle/records.ts';
import type { System, TestCompany } from '../support/system.ts';
import { CHANGES, KINDS, QUESTIONS, type Books, type Task, type Tools } from './tasks.ts';

const PAGE = join(ROOT, 'docs/reference/assistant-tasks.md');

async function readBooks(system: System, company: TestCompany): Promise<Books> {
  return Object.fromEntries(await Promise.all(KINDS.map(async (kind) => [kind, await readAll(system, company, `/v1/${kind}?limit=100`)] as const)));
}

/** Tools that count their calls, and the tokens of arguments and answers. */
function counted(caller: Caller): { tools: Tools; used: { calls: number; tokens: number } } {
  const used = { calls: 0, tokens: 0 };
  async function use(name: string, given: object) {
    const result = await call(caller, name, given);
    const tokens = tokensOf(JSON.stringify(result.content));
    expect(tokens).toBeLessThanOrEqual(4000);
    used.calls += 1;
    used.tokens += tokensOf(JSON.stringify(given)) + tokens;
    return result;
  }
  async function done(name: string, given: object) {
    const result = await use(name, given);
    if (result.isError) throw new Error(result.text);
    return result;
  }
  const tools: Tools = {
    async find(kind, args = {}) {
      const all = [];
      for (let cursor: string | undefined; ; ) {
        const { text, rows } = await done('find', { kind, limit: 100, ...args, ...(cursor !== undefined && { cursor }) });
        all.push(...rows);
        cursor = /cursor (\S+)/.exec(text)?.[1];
        if (cursor === undefined) return all;
      }
    },
    get: async (kind, id, related) => (await done('get', { kind, id, ...(related !== undefined && { related }) })).rows,
    report: async (name, parameters) => (await done('report', { name, parameters, limit: 100 })).rows,
    async schedule(args) {
      const { text } = await done('schedule', args);
      const result = await use('schedule', { token: /within 5 minutes: (\S+)/.exec(text)?.[1] });
      return result.isError ? result.text : undefined;
    },
  };
  return { tools, used };
}

/** Expects the answer of every task to be what the records say, in the documented number of calls. Writes that documentation if ACCEPT_TASKS is 1. */
export async function carryOutTasks(system: System, company: TestCompany): Promise<void> {
  const before = await readBooks(system, company);
  const table: string[] = [];
  async function carriedOut({ ask, carryOut }: Task): Promise<unknown> {
    const { tools, used } = counted({ url: system.baseUrl, key: company.apiKey });
    const answer = await carryOut(tools, before).catch(String);
    table.push(`| ${ask} | ${used.calls} | ${Math.round(used.tokens / 100) * 100} |`);
    return [ask, answer];
  }
  for (const task of QUESTIONS) {
    const right = task.truth(before);
    expect(await carriedOut(task)).toEqual([task.ask, right]);
    expect([task.ask, JSON.stringify(right)]).toEqual([task.ask, expect.not.stringMatching(/^(\[\]|\{\}|0|null)$/)]);
  }
  for (const task of CHANGES) expect(await carriedOut(task)).toEqual([task.ask, task.truth(await readBooks(system, company))]);
  expect(table).toHaveLength(60);
  // The tokens of cursors differ from run to run, so the table shows hundreds, and only its tasks and calls are compared.
  if (process.env['ACCEPT_TASKS'] === '1') writeFileSync(PAGE, readFileSync(PAGE, 'utf8').replace(/(\| [^|]+ \| \d+ \| \d+ \|\n)*$/, `${table.join('\n')}\n`));
  const withoutTokens = (line: string): string => line.replace(/\d+ \|$/, '');
  const documented = readFileSync(PAGE, 'utf8').trimEnd().split('\n').slice(-table.length);
  expect(documented.map(withoutTokens)).toEqual(table.map(withoutTokens));
}
