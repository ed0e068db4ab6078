// /clients: the packages of the clients (decisions §20), made by scripts/build-clients.mjs. Public, as the documentation is.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiError } from '@truckroll/contract';
import { Document, UNCHANGING } from './http/documents.ts';
import type { PublicPage } from './routes/public-pages.ts';

const FOLDER = join(import.meta.dirname, '../clients/gen');

interface ClientFile {
  language: string;
  version: string;
  /** Below /clients. */
  file: string;
  /** The command that installs it, with `{{address}}`. */
  install: string;
}

/** How to install the clients of this version, for the console, which knows its address. */
export type Installation = Pick<ClientFile, 'language' | 'install'>;

export function installations(): Installation[] {
  const { version, clients } = readIndex();
  return clients.filter((each) => each.version === version).map(({ language, install }) => ({ language, install }));
}

/** Texts have `{{address}}` for the gateway's and `{{client}}`, `{{cli}}` and `{{whl}}` for those of packages. Without a public one, readers set a variable, and links with `{{at:../}}` stay relative. */
export function clientWords(address: string): (text: string) => string {
  const { version, clients } = readIndex();
  const packages = clients.filter((each) => each.version === version).map(({ file }) => [wordOf(file), `{{address}}/clients/${file}`] as const);
  const words = [...packages, ['address', address || '$TRUCKROLL_URL'] as const];
  const linked = (text: string): string => text.replace(/\{\{at:([./]*)\}\}/g, (_, relative: string) => (address === '' ? relative : `${address}/`));
  return (text) => words.reduce((rest, [word, value]) => rest.replaceAll(`{{${word}}}`, () => value), linked(text));
}

const wordOf = (file: string): string => /truckroll-(cli|client)-[^/]+\.tgz$/.exec(file)?.[1] ?? 'whl';

/** The files by path, their list, and the error at every other path below /clients. Throws if they are missing. */
export function clientPages(words: (text: string) => string): Record<string, PublicPage> {
  const { clients } = readIndex();
  const versions = [...new Set(clients.map(({ version }) => version))].join(' and ');
  return {
    '/clients/index.json': new Document('application/json', words(readFileSync(join(FOLDER, 'index.json'), 'utf8'))),
    '/clients/*': () => {
      throw new ApiError('NOT_FOUND', `This gateway has the clients of ${versions}. /clients/index.json lists the files.`);
    },
    ...Object.fromEntries(clients.map(({ file }) => [`/clients/${file}`, packageFile(file)])),
  };
}

function packageFile(file: string): Document {
  const type = file.endsWith('.tgz') ? 'application/gzip' : 'application/octet-stream';
  return new Document(type, readFileSync(join(FOLDER, file)), [], 200, UNCHANGING);
}

function readIndex(): { version: string; clients: ClientFile[] } {
  return JSON.parse(readFileSync(join(FOLDER, 'index.json'), 'utf8')) as { version: string; clients: ClientFile[] };
}
