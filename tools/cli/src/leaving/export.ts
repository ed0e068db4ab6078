// `truckroll company export`: what an operator hands over to a company that leaves (decisions §19).
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, open, readFile, readdir, rename, rm, stat, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { formatInstant, now, owners, type Owner } from '@truckroll/contract';
import { CompanyAdminServiceService, type CompanyAccount } from '@truckroll/contract/gen/integrations/v1/admin';
import { ExportServiceService, type ExportCompanyRequest } from '@truckroll/contract/gen/records/v1/exports';
import { explainFolder, makeFolder } from '@truckroll/integrator-cli/copy/folder';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { createProgress } from '@truckroll/integrator-cli/terminal/progress';
import { table } from '@truckroll/integrator-cli/terminal/table';
import { readBuild } from '@truckroll/telemetry';
import { companyIdOf } from '../company-id.ts';
import { isUnimplemented } from '../import/send.ts';
import type { Session } from '../session.ts';

interface Begun {
  readonly company_id: string;
  readonly name: string;
  readonly begun_at: string;
}

interface FileEntry {
  readonly file: string;
  readonly lines: number;
  readonly bytes: number;
  readonly sha256: string;
}

interface Manifest extends Begun {
  readonly ended_at: string;
  readonly release: string;
  readonly files: readonly FileEntry[];
}

/** Written last. */
const MANIFEST = 'manifest.json';
/** There until the manifest is. */
const UNFINISHED = 'unfinished.json';
const FOLDERS = ['records', 'other'];
const PARTIAL = '.partial';
const OWNER_ONLY = 0o600;

export async function exportCompany(session: Session, given: string, folder: string): Promise<void> {
  const id = companyIdOf(given);
  const { companies } = await session.client('integrations', CompanyAdminServiceService).listCompanies({});
  const company = companies.find((each) => each.id === id);
  if (company === undefined) throw new Failure(`There is no company ${id}: see the ids with \`truckroll company list\`.`, EXIT.refused);
  const before = await readIn<Manifest>(folder, MANIFEST, id);
  if (before !== undefined) {
    await compare(folder, before);
    await requireEveryFile(session, company, before);
    return report(session, folder, before);
  }
  const begun = await begin(folder, company);
  for (const service of owners) await receive(session, service, company, folder);
  report(session, folder, await finish(session, folder, begun));
}

/** Throws Failure if the file is of another company. */
async function readIn<T extends Begun>(folder: string, name: string, companyId: string): Promise<T | undefined> {
  const text = await readFile(join(folder, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
    return error.code === 'ENOENT' ? undefined : explainFolder(error);
  });
  if (text === undefined) return undefined;
  const found = parsed<T>(text);
  if (found?.company_id === companyId) return found;
  throw new Failure(`${folder} has the export of ${found?.company_id ?? 'something else'}: choose another folder.`, EXIT.refused);
}

function parsed<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}

/** Makes the folder, or continues in one that an earlier run has begun. */
async function begin(folder: string, { id, name }: CompanyAccount): Promise<Begun> {
  const earlier = await readIn<Begun>(folder, UNFINISHED, id);
  await makeFolder(folder);
  if (earlier === undefined && (await readdir(folder)).length > 0) {
    throw new Failure(`${folder} is not empty, and has no export that could be continued: choose another folder.`, EXIT.refused);
  }
  const begun = earlier ?? { company_id: id, name, begun_at: formatInstant(now()) };
  if (earlier === undefined) await write(folder, UNFINISHED, begun).catch(explainFolder);
  for (const each of FOLDERS) {
    await makeFolder(join(folder, each));
    await chmod(join(folder, each), 0o700).catch(explainFolder);
  }
  return begun;
}

async function write(folder: string, name: string, value: object): Promise<void> {
  const partial = join(folder, `${name}${PARTIAL}`);
  await writeFile(partial, `${JSON.stringify(value, null, 2)}\n`, { mode: OWNER_ONLY, flush: true });
  await rename(partial, join(folder, name));
}

/** Whole files, in order. */
async function filesIn(folder: string): Promise<string[]> {
  const names = await Promise.all(FOLDERS.map(async (each) => (await readdir(join(folder, each))).sort().map((name) => `${each}/${name}`)));
  return names.flat().filter((name) => !name.endsWith(PARTIAL));
}

/** Names a file when it is whole: after an interruption, the next run writes the last one again. */
async function receive(session: Session, service: Owner, company: CompanyAccount, folder: string): Promise<void> {
  const progress = createProgress(session.io, service.padEnd(12), 'bytes', session.json);
  let [bytes, handle] = [0, undefined as FileHandle | undefined];
  try {
    const request = { company_id: company.id, time_zone: company.timezone, complete: await filesIn(folder) };
    const expected = new Set<string>();
    const answers = session.channel(service).client(ExportServiceService).exportCompany(request, { signal: session.io.signal });
    for await (const { file, lines, complete, files } of answers) {
      for (const each of files) expected.add(each);
      if (file === '') continue;
      const path = join(folder, file);
      handle ??= await open(`${path}${PARTIAL}`, 'w', OWNER_ONLY).catch(explainFolder);
      await handle.appendFile(lines).catch(explainFolder);
      progress.update((bytes += lines.length), bytes, undefined);
      if (!complete) continue;
      await handle.sync().catch(explainFolder);
      await handle.close();
      handle = undefined;
      await rename(`${path}${PARTIAL}`, path).catch(explainFolder);
    }
    const missing = [...expected].filter(not(await filesIn(folder)));
    if (missing.length > 0) throw new Failure(`${service} did not send ${missing.join(', ')}: run this again.`, EXIT.unreachable);
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (isUnimplemented(error)) {
      throw new Failure(`${service} is of a release that cannot export companies: upgrade it, then run this again.`, EXIT.refused, error);
    }
    throw session.away(service, error);
  } finally {
    progress.end();
    await handle?.close();
  }
}

async function finish({ io }: Session, folder: string, begun: Begun): Promise<Manifest> {
  const files: FileEntry[] = [];
  for (const file of await filesIn(folder)) files.push(await entryOf(folder, file));
  const manifest: Manifest = { ...begun, ended_at: formatInstant(now()), release: readBuild(io.env).version, files };
  await write(folder, MANIFEST, manifest).catch(explainFolder);
  await rm(join(folder, UNFINISHED));
  return manifest;
}

async function entryOf(folder: string, file: string): Promise<FileEntry> {
  const hash = createHash('sha256');
  let [lines, bytes] = [0, 0];
  for await (const part of createReadStream(join(folder, file)) as AsyncIterable<Buffer>) {
    hash.update(part);
    bytes += part.length;
    for (let at = part.indexOf(10); at !== -1; at = part.indexOf(10, at + 1)) lines++;
  }
  return { file, lines, bytes, sha256: hash.digest('hex') };
}

/** Throws Failure if a file is not as the manifest says. */
async function compare(folder: string, { files }: Manifest): Promise<void> {
  for (const expected of files) {
    const there = await stat(join(folder, expected.file)).then(
      () => true,
      () => false,
    );
    if (there && (await entryOf(folder, expected.file)).sha256 === expected.sha256) continue;
    throw new Failure(`${expected.file} is not as ${MANIFEST} says: export into another folder.`, EXIT.refused);
  }
}

/** Throws Failure if a service has a file that the manifest lacks, such as one of a kind that a later release has added. */
async function requireEveryFile(session: Session, company: CompanyAccount, { files }: Manifest): Promise<void> {
  const complete = files.map(({ file }) => file);
  for (const service of owners) {
    const request = { company_id: company.id, time_zone: company.timezone, complete };
    const missing = (await filesOf(session, service, request)).filter(not(complete));
    if (missing.length === 0) continue;
    throw new Failure(`${service} has ${missing.join(', ')}, which this export lacks: export into another folder.`, EXIT.refused);
  }
}

/** Every file that the service has of the company. */
async function filesOf(session: Session, service: Owner, request: ExportCompanyRequest): Promise<readonly string[]> {
  try {
    const answers = session.channel(service).client(ExportServiceService).exportCompany(request, { signal: session.io.signal });
    for await (const { files } of answers) return files;
    return [];
  } catch (error) {
    throw session.away(service, error);
  }
}

const not =
  (list: readonly string[]) =>
  (each: string): boolean =>
    !list.includes(each);

function report(session: Session, folder: string, manifest: Manifest): void {
  const rows = manifest.files.filter(({ lines }) => lines > 0);
  const text = table(rows, { FILE: (row) => row.file, LINES: (row) => row.lines, BYTES: (row) => row.bytes }, 'The company has nothing.');
  session.print(
    { ...manifest, folder },
    `${text}\n\n${manifest.name} was exported between ${manifest.begun_at} and ${manifest.ended_at}. The records can be imported again:\n  truckroll import ${join(folder, 'records')}`,
  );
}
