// Filters of the API as options of commands: created_from is --created-from.
import { Option, type Command } from 'commander';
import type { QueryOption } from './catalog.ts';

export type FilterQuery = Record<string, string | string[]>;

const flagOf = (name: string): string => `--${name.replaceAll('_', '-')}`;

export function addFilters(command: Command, filters: readonly QueryOption[]): void {
  for (const { name, about, values, many, required } of filters) {
    const placeholder = values === undefined ? 'value' : 'choice';
    const option = new Option(`${flagOf(name)} <${placeholder}${many ? '...' : ''}>`, about).makeOptionMandatory(required ?? false);
    command.addOption(values === undefined ? option : option.choices(values));
  }
}

/** `given` are the options of a command to which addFilters added these. */
export function queryOf(filters: readonly QueryOption[], given: Readonly<Record<string, unknown>>): FilterQuery {
  const query: FilterQuery = {};
  for (const { name } of filters) {
    const value = given[new Option(flagOf(name)).attributeName()];
    if (value !== undefined) query[name] = value as string | string[];
  }
  return query;
}
