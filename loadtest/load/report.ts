// Writes results as JSON, for machines and for later comparison, and as a self-contained HTML page.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MachineFacts } from './machine.ts';
import type { Outcome } from './session.ts';
import type { Sample } from './usage.ts';

export interface Result extends Omit<Outcome, 'samples'> {
  readonly test: string;
  readonly at: string;
  readonly machine: MachineFacts;
  readonly spin: readonly number[];
  readonly stallP99?: number;
}

export function writeResult(folder: string, result: Result, samples: readonly Sample[]): string[] {
  mkdirSync(folder, { recursive: true });
  const name = join(folder, `${result.test}-${result.at.replace(/[:.]/g, '-')}`);
  writeFileSync(`${name}.json`, `${JSON.stringify(tidied(result), null, 2)}\n`);
  writeFileSync(`${name}.html`, pageOf(result, samples));
  return [`${name}.json`, `${name}.html`];
}

/** Rounds to four significant digits. */
export function tidied<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value, (_, each: unknown) => (typeof each === 'number' && !Number.isInteger(each) ? Number(each.toPrecision(4)) : each)),
  ) as T;
}

export function verdictOf({ void: reasons, pass }: Pick<Outcome, 'void' | 'pass'>): 'void' | 'pass' | 'fail' {
  return reasons.length > 0 ? 'void' : pass ? 'pass' : 'fail';
}

const HEAD = ['operation', 'asked/s', 'reached/s', 'p50 ms', 'p99 ms', 'errors', 'of which shed', 'threshold', 'verdict'];

function cellsOf({ rows, imports }: Pick<Outcome, 'rows' | 'imports'>): string[][] {
  const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;
  const cells = rows.map(({ operation, asked, reached, p50, p99, errors, shed, threshold, pass }) => [
    operation,
    asked.toFixed(1),
    reached.toFixed(1),
    p50.toFixed(1),
    p99.toFixed(1),
    percent(errors),
    percent(shed),
    `${threshold.p99} ms, ${percent(threshold.errors)}`,
    pass ? 'pass' : 'FAIL',
  ]);
  if (imports !== undefined)
    cells.push(['import (records)', imports.asked.toFixed(1), imports.reached.toFixed(1), imports.p50.toFixed(1), imports.p99.toFixed(1), '', '', 'none', '']);
  return cells;
}

export function textOf(result: Outcome): string {
  const all = [HEAD, ...cellsOf(result)];
  const widths = HEAD.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const lines = all.map((row) => row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  '));
  const broke = result.brokeAt === undefined ? '' : `a threshold was crossed when ${result.brokeAt.toFixed(0)} requests a second were asked for\n`;
  const why = [broke, ...result.void.map((reason) => `void: ${reason}\n`), ...(result.endurance?.faults ?? []).map((fault) => `FAIL: ${fault}\n`)].join('');
  return `${lines.join('\n')}\n${why}`;
}

function pageOf(result: Result, samples: readonly Sample[]): string {
  const { test, at, machine, usage, spin, stallP99, seconds } = result;
  const facts = Object.entries({
    ...machine,
    'spin check': spin.map((share) => share.toFixed(2)).join(', '),
    'p99 of a stall of 500 ms': stallP99?.toFixed(0) ?? 'not looked at',
    seconds: seconds.toFixed(0),
  });
  const processes = Object.entries(usage).map(([name, one]) => [
    name,
    one.cpu.toFixed(2),
    one.memoryFirst.toFixed(0),
    one.memoryMost.toFixed(0),
    one.memoryLast.toFixed(0),
    String(one.filesFirst),
    String(one.filesLast),
    curve(samples.map((sample) => sample.cpu[name] ?? 0)),
    curve(samples.map((sample) => sample.memory[name] ?? 0)),
  ]);
  const verdict = verdictOf(result);
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escaped(test)}, ${escaped(at)}</title>
<style>body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1d2433}table{border-collapse:collapse;margin:1rem 0}
td,th{padding:.25rem .7rem;border-bottom:1px solid #d9dee7;text-align:right;font-variant-numeric:tabular-nums}td:first-child,th:first-child{text-align:left}
.pass{color:#14693b}.fail,.void{color:#a4262c}svg{width:9rem;height:1.6rem}polyline{fill:none;stroke:#34568b;stroke-width:1.5;vector-effect:non-scaling-stroke}</style>
<h1>${escaped(test)}: <span class="${verdict}">${verdict}</span></h1><p>${escaped(at)}</p>
${result.void.map((reason) => `<p class="void">Says nothing: ${escaped(reason)}.</p>`).join('')}
${(result.endurance?.faults ?? []).map((fault) => `<p class="fail">${escaped(fault)}.</p>`).join('')}
${tableOf(HEAD, cellsOf(result))}
<h2>Processes</h2>${tableOf(['process', 'cores', 'MB first', 'MB most', 'MB last', 'files first', 'files last', 'processor', 'memory'], processes)}
<h2>Machine</h2>${tableOf(
    ['', ''],
    facts.map(([name, value]) => [name, String(value)]),
  )}
</html>\n`;
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[], tag: string): string =>
    `<tr>${row.map((cell) => `<${tag}>${cell.startsWith('<svg') ? cell : escaped(cell)}</${tag}>`).join('')}</tr>`;
  return `<table>${cells(head, 'th')}${rows.map((row) => cells(row, 'td')).join('')}</table>`;
}

function curve(values: readonly number[]): string {
  const most = Math.max(...values, 1e-9);
  const points = values.map((value, index) => `${index},${(20 * (1 - value / most)).toFixed(1)}`).join(' ');
  return `<svg viewBox="0 0 ${Math.max(1, values.length - 1)} 20" preserveAspectRatio="none"><polyline points="${points}"/></svg>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
