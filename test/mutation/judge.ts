import type { Measured } from './list.ts';

/** A mutant after its tests have run; lines and columns count from 1. */
export interface Mutant {
  readonly fileName: string;
  readonly status: string;
  readonly replacement?: string | undefined;
  readonly location: { readonly start: Position; readonly end: Position };
}

interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Verdict {
  readonly killed: number;
  readonly total: number;
  readonly problems: readonly string[];
}

const LEAST = 0.9;
const KILLED = ['Killed', 'Timeout'];
const SURVIVED = ['Survived', 'NoCoverage'];

export function judge(source: string, mutants: readonly Mutant[], { survivors }: Pick<Measured, 'survivors'>): Verdict {
  const killed = mutants.filter(({ status }) => KILLED.includes(status)).length;
  const left = mutants.filter(({ status }) => SURVIVED.includes(status)).map((mutant) => describeMutant(source, mutant));
  const total = killed + left.length;
  const problems = [
    ...left.filter((text) => survivors[text] === undefined).map((text) => `no test notices ${JSON.stringify(text)}: add one, or the reason to rules.json`),
    ...Object.keys(survivors)
      .filter((text) => !left.includes(text))
      .map((text) => `rules.json lists ${JSON.stringify(text)}, which does not survive`),
  ];
  if (killed < total * LEAST) problems.push(`${killed} of ${total} mutants are noticed, fewer than ${LEAST * 100} %`);
  return { killed, total, problems };
}

/** Describes a mutant by its line before and after, so that the description stays valid when the rest of the file changes. */
function describeMutant(source: string, { location: { start, end }, replacement = '' }: Mutant): string {
  const lines = source.split('\n');
  const [first, last] = [lines[start.line - 1]!, lines[end.line - 1]!];
  const becomes = `${first.slice(0, start.column - 1)}${replacement}${last.slice(end.column - 1)}`;
  return `${oneLine(first)} → ${oneLine(becomes)}`;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
