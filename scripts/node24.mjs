// Finds Node 24 or newer: the Node running this, or else the one installed with the packages.
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const NEEDED = 24;

/** The path of Node; throws an error that says what to do. */
export function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= NEEDED) return process.execPath;
  const shipped = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin/node');
  if (existsSync(shipped)) return shipped;
  throw new Error(
    `Truckroll needs Node ${NEEDED} or newer and this is ${process.version}: install it, or run "npm start" once on a platform for which npm has it.`,
  );
}

/** The environment in which every "node" is this one. */
export function environmentFor(node) {
  return { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}` };
}
