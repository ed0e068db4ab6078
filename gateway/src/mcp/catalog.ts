// What the tools offer, read from the contract: kinds of record with their filters, and reports.
import { camelCase, isChangeRecord, publicText, type Field, type Operation } from '@truckroll/contract';

export interface CatalogKind {
  name: string;
  list: Operation;
  /** Path of one record, without its id; undefined if the API has no detail of it. */
  detail?: Operation;
}

export interface Catalog {
  kinds: ReadonlyMap<string, CatalogKind>;
  reports: ReadonlyMap<string, Operation>;
  /** The kind whose records the field of a record refers to. */
  kindOf(field: string): CatalogKind | undefined;
  /** Kinds with a filter by the id of a record of this kind, with that filter. */
  related(kind: CatalogKind): ReadonlyMap<string, { kind: CatalogKind; filter: string }>;
}

/** Lists below /api/v1 that are of records and not of the installation's own settings. */
const INTAKE = new Set(['service-requests', 'interactions']);

/** Lists below /api/v1 are left out, except service requests and interactions. */
export function catalogOf(operations: readonly Operation[]): Catalog {
  const kinds = new Map<string, CatalogKind>();
  const reports = new Map<string, Operation>();
  for (const operation of operations) {
    const { verb, kind, route, camelCase } = operation;
    if (verb !== 'GET' || /\{/.test(route)) continue;
    const name = lastOf(route);
    if (kind === 'report') reports.set(name, operation);
    else if (kind === 'list' && (!camelCase || INTAKE.has(name))) {
      const detail = operations.find((other) => other.verb === 'GET' && other.route === `${route}/{id}`);
      kinds.set(name, { name, list: operation, ...(detail !== undefined && { detail }) });
    }
  }
  const bySingular = new Map([...kinds.values()].flatMap((kind) => [kind.name, kind.name.replace(/^job-/, '')].map((name) => [singular(name), kind])));
  bySingular.set('job', kinds.get('jobs') as CatalogKind);
  const kindOf = (field: string): CatalogKind | undefined => bySingular.get(field.replace(/_id$/, ''));
  return {
    kinds,
    reports,
    kindOf,
    related: (kind) =>
      new Map(
        [...kinds.values()].flatMap((other) =>
          other.list.parameters
            .filter(({ name }) => name.endsWith('_id') && kindOf(name) === kind)
            .map(({ name: filter }) => [other.name, { kind: other, filter }]),
        ),
      ),
  };
}

function lastOf(route: string): string {
  return route.slice(route.lastIndexOf('/') + 1);
}

function singular(name: string): string {
  return name
    .replaceAll('-', '_')
    .replace(/ies$/, 'y')
    .replace(/(ss|x)es$/, '$1')
    .replace(/s$/, '');
}

/** How the answers of an operation spell fields. */
function spelling({ response, camelCase: isCamel }: Operation): (field: Field) => string {
  const shape = response.byName.get('data')?.shape;
  // Records have the keys that they have in the change feed.
  return isCamel && !(shape !== undefined && isChangeRecord(shape)) ? ({ name }) => camelCase(name) : ({ name }) => name;
}

/** Names of the fields of an operation's records. */
export function fieldsOf(operation: Operation): string[] {
  return (operation.response.byName.get('data')?.shape?.fields ?? []).map(spelling(operation));
}

/** What a list or report takes and what its records have. */
export function describe(operation: Operation): string[] {
  const { doc, parameters, response } = operation;
  const spelled = spelling(operation);
  const filters = parameters.map(({ name, field }) => {
    const values = field.enum === undefined ? field.kind : [...field.enum.names.values()].join(' ');
    return `${name} (${values}${field.repeated ? ', repeated' : ''}) ${firstSentence(field.doc)}`.trim();
  });
  const fields = (response.byName.get('data')?.shape?.fields ?? []).map((field) => {
    const kind = field.shape === undefined ? field.kind : `{${field.shape.fields.map(spelled).join(', ')}}`;
    return `${spelled(field)} (${kind}${field.repeated ? ' list' : ''}) ${firstSentence(field.doc)}`.trim();
  });
  return [firstSentence(doc), 'Filters:', ...filters, 'Fields:', ...fields];
}

function firstSentence(doc: string): string {
  return (/^.*?\.(?=\s|$)/s.exec(publicText(doc))?.[0] ?? '').replace(/\s+/g, ' ').slice(0, 160);
}
