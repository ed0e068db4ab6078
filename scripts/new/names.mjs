// How a name is spelled in each place.
import { Refusal } from './changes.mjs';

/** Words between dashes: `work-orders`. */
export function checkName(name) {
  if (!/^[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*$/.test(name)) throw new Refusal(`${name} is no name: write small letters, digits and dashes, such as work-orders.`);
}

export const snake = (name) => name.replaceAll('-', '_');
export const spaced = (name) => name.replaceAll('-', ' ');
export const camel = (name) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
export const pascal = (name) => camel(`-${name}`);
export const screaming = (name) => snake(name).toUpperCase();

export function singularOf(plural) {
  if (/[^s]s$/.test(plural)) return plural.replace(/ies$/, 'y').replace(/s$/, '');
  throw new Refusal(`${plural} is no plural: a record has the name of its list, such as work-orders.`);
}

/** Number and name of the next migration: `0004_deposits`. */
export function migrationName(files, name) {
  return `${String(files.filter((file) => file.endsWith('.sql')).length + 1).padStart(4, '0')}_${snake(name)}`;
}
