// Finds phrases and words that a native-speaking engineer stumbles over, for "npm run check:words". It is a smoke detector: a line that
// passes can still be unreadable, and another word for a flagged one helps no reader. Rewrite the sentence.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ALLOWED, PHRASES, WORDS, hasCheckedWords } from './plain-english-rules.mjs';

const root = join(import.meta.dirname, '..');
/** Greatest share of flagged lines of comments, test names and prose: some are quotations, names of fields, or false alarms. */
const MAX_SHARE = 0.005;

const USAGE = `Usage: npm run check:words [-- --base <commit>] [--list] [paths …]

Reports phrases in comments, test names and prose, and words anywhere in code, that the glossary replaces.

  --base <commit>   only lines added since that commit
  --list            every flagged phrase, instead of their number`;

const CODE = /\.(ts|tsx|mts|mjs|proto|sql|yaml|yml|tpl)$/;
const SKIPPED = /(^|\/)gen\/|^proto\/google|^docs\/api\.md$|^pnpm-lock|^(tools|test)\/plain-english/;
const COMMENT = /^\s*(?:\/\/|\/\*\*?|\*|--|#|\{\{\/\*)\s?(.*?)(?:\*\/.*)?$/;
const TRAILING = /\s(?:\/\/|--)\s(.*)$/;
const TEST_NAME = /\b(?:test|it|describe)(?:\.each\([^)]*\))?\(\s*(['"`])(.+?)\1/;

/** The comment, the test name, or the prose of a line. */
export function* textsOf(path, line) {
  if (path.endsWith('.md')) {
    yield line.replace(/^[\s#*\->|]+|[\s#*\->|]+$/g, '');
    return;
  }
  const comment = COMMENT.exec(line);
  if (comment) {
    yield comment[1].trim();
    return;
  }
  const trailing = TRAILING.exec(line);
  if (trailing && !line.includes('://')) yield trailing[1].trim();
  const name = TEST_NAME.exec(line);
  if (name) yield name[2];
}

/** What to write instead of each flagged phrase of a text. */
export function phrasesIn(text) {
  return PHRASES.filter(([pattern]) => pattern.test(text)).map(([, instead]) => instead);
}

/** The glossary's replaced words in a line of code: in identifiers, comments and strings. */
export function wordsIn(line) {
  const words = ALLOWED.reduce((rest, allowed) => rest.replaceAll(allowed, ' '), line)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_-]/g, ' ');
  return WORDS.flatMap(([pattern, instead]) => [...words.matchAll(pattern)].map(([word]) => ({ word, instead })));
}

function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 30 });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

function* wholeTree(paths) {
  for (const path of git('ls-files', '--', ...paths).split('\n')) {
    if (!isRead(path)) continue;
    for (const [index, line] of readFileSync(join(root, path), 'utf8').split('\n').entries()) yield { path, number: index + 1, line };
  }
}

function* addedSince(base, paths) {
  let path = '';
  let number = 0;
  for (const row of git('diff', '--unified=0', base, '--', ...paths).split('\n')) {
    if (row.startsWith('+++ ')) path = row.slice('+++ b/'.length);
    else if (row.startsWith('@@')) number = Number(/\+(\d+)/.exec(row)[1]) - 1;
    else if (row.startsWith('+') && isRead(path)) yield { path, number: ++number, line: row.slice(1) };
  }
}

const isRead = (path) => (CODE.test(path) || path.endsWith('.md')) && !SKIPPED.test(path);

function main() {
  const { values, positionals } = parseArgs({
    options: { base: { type: 'string' }, list: { type: 'boolean' }, help: { type: 'boolean' } },
    allowPositionals: true,
  });
  if (values.help) return console.log(USAGE);
  let [seen, flagged, replaced] = [0, 0, 0];
  for (const { path, number, line } of values.base === undefined ? wholeTree(positionals) : addedSince(values.base, positionals)) {
    for (const text of textsOf(path, line)) {
      if (text === '') continue;
      seen++;
      const phrases = phrasesIn(text);
      if (phrases.length === 0) continue;
      flagged++;
      if (values.list) console.log(`${path}:${number}: ${text.slice(0, 140)}   -> ${phrases.join('; ')}`);
    }
    if (!hasCheckedWords(path)) continue;
    for (const { word, instead } of wordsIn(line)) {
      replaced++;
      console.log(`${path}:${number}: "${word}": write ${instead}`);
    }
  }
  const share = flagged / Math.max(seen, 1);
  console.log(`${flagged} of ${seen} lines of comments, test names and prose are flagged (${(100 * share).toFixed(2)} %, at most ${100 * MAX_SHARE} %)`);
  console.log(`${replaced} words that the glossary replaces`);
  if (share > MAX_SHARE || replaced > 0) process.exitCode = 1;
}

if (process.argv[1] === import.meta.filename) main();
