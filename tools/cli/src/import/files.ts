import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { editDistance, inOrderOfReference, type Resource } from '@truckroll/contract';
import { EXIT, Failure } from '../failure.ts';

export interface InputFile {
  /** The name that the user gave. */
  readonly file: string;
  readonly resource: Resource;
  readonly bytes: number;
}

export interface ImportPlan {
  /** In order of reference: records that others refer to come first. */
  readonly inputs: readonly InputFile[];
  /** Files that are skipped, with the reason. */
  readonly ignored: readonly string[];
}

const ENDING = '.ndjson';
/** Written by export about the company itself; companies are created and changed by `truckroll company`. */
const COMPANY = 'company.json';
const NOT_IMPORTED: ReadonlyMap<string, string> = new Map([
  ['service-requests.ndjson', 'record service requests with `truckroll intake`.'],
  ['interactions.ndjson', 'record interactions with `truckroll intake`.'],
  ['changes.ndjson', 'import a whole export.'],
  ['cursor', 'it is for `truckroll export --since`.'],
]);

/** Throws Failure before anything is sent if a name matches no record. */
export function planImport(names: readonly string[]): ImportPlan {
  const ordered = inOrderOfReference();
  const inputs: InputFile[] = [];
  const ignored: string[] = [];
  const faults: string[] = [];
  for (const file of names.flatMap((name) => filesAt(name))) {
    const base = basename(file);
    if (base === COMPANY) {
      ignored.push(`${file}: left alone; create the company with \`truckroll company create\` and change it with \`truckroll company set\`.`);
    } else if (NOT_IMPORTED.has(base)) {
      ignored.push(`${file}: left alone; ${NOT_IMPORTED.get(base)}`);
    } else if (!base.endsWith(ENDING)) {
      ignored.push(`${file}: left alone, for it is not a ${ENDING} file.`);
    } else {
      const path = base.slice(0, -ENDING.length);
      const resource = ordered.find((candidate) => candidate.path === path);
      if (resource === undefined) faults.push(`${file}: there are no records called ${path}. ${suggestion(path, ordered)}`);
      else inputs.push({ file, resource, bytes: statSync(file).size });
    }
  }
  if (faults.length > 0) throw new Failure(`${faults.join('\n')}\nNothing was imported.`, EXIT.usage);
  if (inputs.length === 0) throw new Failure('There is no file to import: give a folder or files such as invoices.ndjson.', EXIT.usage);
  const rank = (input: InputFile): number => ordered.indexOf(input.resource);
  return { inputs: inputs.sort((a, b) => rank(a) - rank(b)), ignored };
}

function filesAt(name: string): string[] {
  try {
    if (!statSync(name).isDirectory()) return [name];
    const entries = readdirSync(name, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(name, entry.name))
      .sort();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') throw new Failure(`${name} does not exist: give a folder or files such as invoices.ndjson.`, EXIT.usage);
    if (code === 'EACCES') throw new Failure(`${name} cannot be read: ask its owner for permission.`, EXIT.usage);
    throw error;
  }
}

/** The closest known name if it is close enough; otherwise all names. */
export function suggestion(path: string, known: readonly Resource[]): string {
  const distances = known.map((candidate) => ({ path: candidate.path, steps: editDistance(path.toLowerCase().replaceAll('_', '-'), candidate.path) }));
  const [nearest] = distances.sort((a, b) => a.steps - b.steps);
  if (nearest !== undefined && nearest.steps <= Math.max(2, path.length / 3)) return `Did you mean ${nearest.path}${ENDING}?`;
  return `Known names: ${known
    .map((candidate) => candidate.path)
    .sort()
    .join(', ')}.`;
}
