// The methods of resources, from a table of operations.
import type { Input, Method } from './types.ts';

/** An operation is a text of words: its method, its path, then `query` or `body` if it takes one, and `list` if it iterates. */
export interface OperationTable {
  readonly [name: string]: string | OperationTable;
}

type Call = (method: Method, path: string, input: Input) => unknown;
type List = (path: string, input: Input) => unknown;

/** The table with a function for each operation, which takes the ids of the path, then the query or the body, then options. */
export function bindAll(table: OperationTable, call: Call, list: List): object {
  return Object.fromEntries(
    Object.entries(table).map(([name, entry]) => [name, typeof entry === 'string' ? bind(entry, call, list) : bindAll(entry, call, list)]),
  );
}

function bind(entry: string, call: Call, list: List): unknown {
  const [method, path, ...words] = entry.split(' ') as [Method, string, ...string[]];
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  const takes = words.find((word) => word !== 'list');
  return (...given: unknown[]) => {
    const rest = given.slice(names.length);
    const taken = takes && { [takes]: rest.shift() };
    const ids: Input['path'] = Object.fromEntries(names.map((name, index) => [name, given[index] as string]));
    const input = Object.assign({}, rest[0], taken, { path: ids }) as Input;
    return words.includes('list') ? list(path, input) : call(method, path, input);
  };
}
