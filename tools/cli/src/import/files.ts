// Decides which files are imported, by their names and first bytes, before anything is sent.
import { closeSync, lstatSync, openSync, readSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { editDistance, inOrderOfReference, type Resource } from '@truckroll/contract';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';

export interface InputFile {
  /** The name that the user gave. */
  readonly file: string;
  readonly resource: Resource;
  /** The file that the name leads to, through links. */
  readonly realPath: string;
  readonly bytes: number;
  /** Whether its content is compressed, whatever its name: browsers unpack files and keep the name. */
  readonly gzip: boolean;
}

export interface ImportPlan {
  /** In order of reference: records that others refer to come first. Files of the same records are in the order of their names. */
  readonly inputs: readonly InputFile[];
  /** Files that need not be imported, with the reason, and what else is good to know. */
  readonly remarks: readonly string[];
  /** What looks like a file of records and is not read, with the reason. */
  readonly unread: readonly string[];
}

const RECORDS = /^(.+)\.(ndjson|jsonl)(\.gz)?$/;
/** Written by export, and not imported. */
const NOT_IMPORTED: ReadonlyMap<string, string> = new Map([
  ['company.json', 'create the company with `truckroll company create` and change it with `truckroll company set`.'],
  ['service-requests', 'record service requests with `truckroll intake`.'],
  ['interactions', 'record interactions with `truckroll intake`.'],
  ['changes', 'import a whole export.'],
  ['cursor', 'it is for `truckroll export --since`.'],
]);

const GZIP = Buffer.from([0x1f, 0x8b]);

/** Throws Failure if a name does not exist, or there is nothing to import. */
export function planImport(names: readonly string[]): ImportPlan {
  const ordered = inOrderOfReference();
  const inputs: InputFile[] = [];
  const remarks: string[] = [];
  const unread: string[] = [];
  for (const { file, within } of names.flatMap(filesAt)) {
    const base = basename(file).toLowerCase();
    const path = RECORDS.exec(base)?.[1];
    const resource = ordered.find((candidate) => candidate.path === path);
    const purpose = NOT_IMPORTED.get(path ?? base);
    if (purpose !== undefined) {
      remarks.push(`${file}: left alone; ${purpose}`);
    } else if (path === undefined) {
      const subfolder = within !== undefined && lstatSync(file).isDirectory();
      const reason = subfolder
        ? 'subfolders are not read. Give its name too, to import the files in it.'
        : 'only .ndjson and .jsonl files are, with or without .gz.';
      const looksLikeRecords = [base, ...(subfolder ? entriesOf(file) : [])].some((name) => ordered.some((each) => name.startsWith(each.path)));
      if (looksLikeRecords) unread.push(`${file}: not read: ${reason}`);
      else remarks.push(`${file}: left alone: ${reason}`);
    } else if (resource === undefined) {
      unread.push(`${file}: not read: there are no records called ${path}. ${suggestion(path, ordered)}`);
    } else {
      const found = look(file, within);
      if (typeof found === 'string') unread.push(`${file}: not read: ${found}`);
      else if (!inputs.some((other) => other.resource === resource && other.realPath === found.realPath)) inputs.push({ file, resource, ...found });
    }
  }
  if (inputs.length === 0)
    throw new Failure([...remarks, ...unread, 'There is no file to import: give a folder or files such as invoices.ndjson.'].join('\n'), EXIT.usage);
  const rank = (input: InputFile): number => ordered.indexOf(input.resource);
  inputs.sort((a, b) => rank(a) - rank(b));
  for (const [path = '', files = []] of Map.groupBy(inputs, ({ resource }) => resource.path))
    if (files.length > 1) remarks.push(`${path} are read from ${files.map(({ file }) => file).join(', then ')}.`);
  return { inputs, remarks, unread };
}

interface Named {
  readonly file: string;
  /** The folder that was given, if the file was not named itself: links that leave it are not followed. */
  readonly within?: string;
}

/** Dot files of a folder are other programs' own: the links and data of a mounted ConfigMap, and what macOS adds. */
function filesAt(name: string): Named[] {
  try {
    if (!statSync(name).isDirectory()) return [{ file: name }];
    const within = realpathSync(name);
    return readdirSync(name)
      .filter((entry) => !entry.startsWith('.'))
      .sort()
      .map((entry) => ({ file: join(name, entry), within }));
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new Failure(`${name} does not exist: give a folder or files such as invoices.ndjson.`, EXIT.usage);
    throw new Failure(`${name} cannot be read: ${whyNot(error)}`, EXIT.usage);
  }
}

/** In lower case. None if the folder cannot be read. */
function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).map((entry) => entry.toLowerCase());
  } catch {
    return [];
  }
}

type Found = Pick<InputFile, 'realPath' | 'bytes' | 'gzip'>;

/** The file behind the name, or why it cannot be read. */
function look(file: string, within: string | undefined): Found | string {
  try {
    const realPath = realpathSync(file);
    if (within !== undefined && lstatSync(file).isSymbolicLink() && !realPath.startsWith(join(within, sep)))
      return 'it is a link out of the folder. If you trust what it leads to, give its own name.';
    const stats = statSync(realPath);
    if (stats.isDirectory()) return 'it is a folder. Give its name too, to import the files in it.';
    if (!stats.isFile()) return 'it is not a regular file. Write the records into one.';
    return { bytes: stats.size, gzip: startsAs(realPath, GZIP), realPath };
  } catch (error) {
    return whyNot(error);
  }
}

/** Fails where the file cannot be read. */
function startsAs(file: string, start: Buffer): boolean {
  const opened = openSync(file, 'r');
  try {
    const first = Buffer.alloc(start.length);
    readSync(opened, first);
    return first.equals(start);
  } finally {
    closeSync(opened);
  }
}

function whyNot(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM') return 'you may not read it. Ask its owner for permission.';
  if (code === 'ELOOP') return 'it is a link that leads back to itself.';
  if (code === 'ENOENT') return 'it is a link to something that does not exist.';
  return `${code === '' ? message : code}.`;
}

/** The closest known name if it is close enough; otherwise all names. */
export function suggestion(path: string, known: readonly Resource[]): string {
  const distances = known.map((candidate) => ({ path: candidate.path, steps: editDistance(path.toLowerCase().replaceAll('_', '-'), candidate.path) }));
  const [nearest] = distances.sort((a, b) => a.steps - b.steps);
  if (nearest !== undefined && nearest.steps <= Math.max(2, path.length / 3)) return `Did you mean ${nearest.path}.ndjson?`;
  return `Known names: ${known
    .map((candidate) => candidate.path)
    .sort()
    .join(', ')}.`;
}
