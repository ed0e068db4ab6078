// Checks a commit message. Git runs it with the message's file as .githooks/commit-msg; see "Commits" in CONTRIBUTING.md.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const MAX_SUBJECT = 72;
/** Areas that are no folder of the repository. */
const AREAS = ['ci', 'deps', 'docs'];
/** An area may be a folder of one of these. */
const PARENTS = ['.', 'packages', 'services', 'tools'];
/** Subjects that git writes itself. */
const WRITTEN_BY_GIT = /^(Merge |Revert "|fixup! |squash! |amend! )/;

/** What is wrong with a commit message, one sentence each. Ignores comment lines and everything below the scissors line. */
export function problemsOf(message) {
  const lines = message
    .split(/^# -+ >8 -+$/m)[0]
    .split('\n')
    .filter((line) => !line.startsWith('#'));
  while (lines[0]?.trim() === '') lines.shift();
  const [subject = '', second = ''] = lines;
  if (subject === '' || WRITTEN_BY_GIT.test(subject)) return [];
  const problems = [];
  if (subject.length > MAX_SUBJECT) problems.push(`The subject has ${subject.length} characters, of at most ${MAX_SUBJECT}.`);
  const [, area, change] = /^([^:]*): (\S.*)$/.exec(subject) ?? [];
  if (area === undefined) problems.push('The subject must be "area: what changes".');
  else if (!isArea(area)) problems.push(`"${area}" is no area: name one folder (gateway, outbox, test/load), or ${AREAS.join(', ')}.`);
  if (change?.endsWith('.')) problems.push('The subject must not end with a full stop.');
  if (second !== '') problems.push('The second line must be empty.');
  return problems;
}

function isArea(area) {
  if (AREAS.includes(area)) return true;
  if (!/^[\w.-]+(\/[\w.-]+)*$/.test(area) || area.startsWith('.')) return false;
  return PARENTS.some((parent) => statSync(join(root, parent, area), { throwIfNoEntry: false })?.isDirectory());
}

if (process.argv[1] === import.meta.filename) {
  const problems = problemsOf(readFileSync(process.argv[2], 'utf8'));
  if (problems.length > 0) {
    console.error(['The commit message is refused:', ...problems.map((problem) => `- ${problem}`), 'Your text is in .git/COMMIT_EDITMSG.'].join('\n'));
    process.exitCode = 1;
  }
}
