// The tools that read (decisions §18). Each call becomes requests of the API with the caller's credential.
import type { Operation } from '@truckroll/contract';
import type { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import { failure, fenced, fitting, fittingLine, inDollars, lineOf, refusal, retryOf, text, type ToolAnswer } from './answers.ts';
import { emptyIn, queryOf, unknownIn, type Arguments } from './arguments.ts';
import { describe, fieldsOf, type Catalog, type CatalogKind } from './catalog.ts';
import type { ApiBody, InnerAnswer, InnerRequest, Json } from './inner-requests.ts';

export interface ToolCall {
  given: Json;
  principal: Principal;
  /** A request of the API with the credential of the call. */
  ask(request: InnerRequest): Promise<InnerAnswer>;
}

export interface Tool {
  name: string;
  description: string;
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: boolean };
  arguments: Arguments;
  /** Valid arguments, for the answer to wrong ones. */
  example: object;
  /** Whether it answers without a request of the API: then the call itself counts as a read. */
  isLocal?: true;
  run(call: ToolCall): Promise<ToolAnswer> | ToolAnswer;
}

/** Arguments that the tools check by their `arguments` before they run. */
interface Given {
  kind: string;
  id: string;
  name: string;
  search?: string;
  filters?: Json;
  parameters?: Json;
  kinds?: string[];
  fields?: string[];
  related?: string[];
  limit?: number;
  cursor?: string;
  from?: number;
}

const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const DEFAULT_LIMIT = 20;
/** Related records of one kind in an answer of `get`. */
const RELATED_LIMIT = 5;
const PAGING: Arguments = { limit: { type: 'integer', min: 1, max: 100 }, cursor: { type: 'string', description: 'from the previous answer' } };
const KIND: Arguments = { kind: { type: 'string', required: true, description: 'a kind that describe lists' } };
const FIELDS: Arguments = { fields: { type: 'strings', description: 'top-level fields to return; fewer fields, more records' } };

export function invalid(faults: readonly string[], example: object): ToolAnswer {
  return failure(`The arguments are wrong, so nothing was done:\n- ${faults.join('\n- ')}\nA valid call: ${JSON.stringify(example)}`);
}

function unknown(name: string, of: ReadonlyMap<string, unknown>, example: object): ToolAnswer {
  return invalid([`${name.slice(0, 50)} is not known: there are ${[...of.keys()].join(', ')}.`], example);
}

/** `base` is the gateway's public address; empty if unknown. */
export function readingTools(catalog: Catalog, base: string): Tool[] {
  const { kinds, reports } = catalog;

  const find: Tool = {
    name: 'find',
    description:
      'List records of a kind, filtered. filters are those of describe, such as {"status":["OPEN"]}; search finds words, names, numbers and telephones. ' +
      'Amounts end in _cents. _left_out names fields of a record that do not fit: get them by fields.',
    annotations: READS,
    arguments: { ...KIND, search: { type: 'string' }, filters: { type: 'object' }, ...FIELDS, ...PAGING },
    example: { kind: 'invoices', filters: { status: ['OPEN'] }, fields: ['number', 'account', 'amounts'], limit: 10 },
    run(call) {
      const { kind, search, filters, fields, limit, cursor } = call.given as unknown as Given;
      const found = kinds.get(kind);
      if (found === undefined) return unknown(kind, kinds, find.example);
      const faults = [...emptyIn('filters', filters), ...unknownIn(fields, fieldsOf(found.list))];
      if (faults.length > 0) return invalid(faults, find.example);
      return page(call, find, found.list.route, { limit: DEFAULT_LIMIT, ...filters, ...defined({ search, limit, cursor }) }, (record) =>
        fittingLine(record, fields),
      );
    },
  };

  const get: Tool = {
    name: 'get',
    description: 'One record by id. related names what to load with it: fields that refer to a record (account) and kinds that refer to this one (invoices).',
    annotations: READS,
    arguments: { ...KIND, id: { type: 'string', required: true }, related: { type: 'strings' }, ...FIELDS },
    example: { kind: 'accounts', id: '499ad732-81bf-46cb-851f-75e487e462b2', related: ['invoices'] },
    async run(call) {
      const { kind, id, related = [], fields } = call.given as unknown as Given;
      const found = kinds.get(kind);
      if (found === undefined) return unknown(kind, kinds, get.example);
      const faults = unknownIn(fields, fieldsOf(found.detail ?? found.list));
      if (faults.length > 0) return invalid(faults, get.example);
      const answer = await call.ask({ path: oneOf(found, id) });
      if (answer.status !== 200) return refusal(answer, get.example);
      const record = (found.detail === undefined ? rowsOf(answer)[0] : answer.body.data) as Json | undefined;
      if (record === undefined) return failure('NOT_FOUND: no record of this kind has this id.');
      const lines = [fittingLine(record, fields)];
      const notes: string[] = [];
      const inverse = catalog.related(found);
      for (const name of new Set(related.slice(0, 10))) {
        const other = inverse.get(name);
        const path = other === undefined ? referred(record, name) : other.kind.list.route + queryOf({ [other.filter]: id, limit: RELATED_LIMIT });
        if (path === undefined) {
          notes.push(` ${name.slice(0, 50)} is not related to this record; kinds that are: ${[...inverse.keys()].join(', ')}.`);
          continue;
        }
        const loaded = await call.ask({ path });
        if (loaded.status !== 200) {
          notes.push(` ${name} could not be read: ${loaded.body.error.code}.${retryOf(loaded)}`);
          continue;
        }
        const rows = other === undefined ? [loaded.body.data as Json] : rowsOf(loaded);
        lines.push(...rows.map((row) => `${name}: ${lineOf(row)}`));
        if (other !== undefined && nextOf(loaded.body) !== undefined)
          notes.push(` There are more ${name}: find with filters ${JSON.stringify({ [other.filter]: id })}.`);
      }
      const fits = fitting(lines);
      if (fits < lines.length) notes.push(` ${lines.length - fits} related records did not fit: ask for fewer, or find them.`);
      return text(`One of ${found.name}.${notes.join('')}\n${fenced(lines.slice(0, fits))}`);
    },
  };

  /** Path of the record to which a field refers; undefined if it refers to none. */
  function referred(record: Json, field: string): string | undefined {
    const target = catalog.kindOf(field);
    const id = (record[field] as { id?: unknown } | null | undefined)?.id ?? record[`${field}_id`];
    return target?.detail !== undefined && typeof id === 'string' ? oneOf(target, id) : undefined;
  }

  const report: Tool = {
    name: 'report',
    description: `Figures in dollars: ${[...reports.keys()].join(', ')}. parameters are those of describe; the first 100 rows are linked as CSV.`,
    annotations: READS,
    arguments: { name: { type: 'string', required: true, enum: [...reports.keys()] }, parameters: { type: 'object' }, ...PAGING },
    example: { name: 'invoice-activity', parameters: { start_date: '2026-01-01', end_date: '2026-04-01', group_by: 'account' } },
    async run(call) {
      const { name, parameters, limit, cursor } = call.given as unknown as Given;
      const { route } = reports.get(name) as Operation;
      const faults = emptyIn('parameters', parameters);
      if (faults.length > 0) return invalid(faults, report.example);
      const answer = await page(call, report, route, { limit: DEFAULT_LIMIT, ...parameters, ...defined({ limit, cursor }) }, (row) => lineOf(inDollars(row)));
      if (answer.isError !== true && base !== '') {
        answer.content.push({
          type: 'resource_link',
          uri: base + route + queryOf({ ...parameters, limit: 100, amounts: 'decimal' }),
          name: `${name}.csv`,
          mimeType: 'text/csv',
          description: 'The first 100 rows as CSV; the answer’s Link header has the next ones. GET it with the same Authorization and Accept: text/csv.',
        });
      }
      return answer;
    },
  };

  const changes: Tool = {
    name: 'changes',
    description:
      'What changed since a cursor, oldest first. Without a cursor it begins with the records that there are; with cursor "now" it answers where to begin.',
    annotations: READS,
    arguments: { kinds: { type: 'strings' }, ...PAGING },
    example: { kinds: ['invoices'], limit: 10 },
    run(call) {
      const { kinds: wanted, limit = DEFAULT_LIMIT, cursor } = call.given as unknown as Given;
      return page(call, changes, '/api/v1/integrations/changes', { kinds: wanted, limit, cursor }, fittingLine);
    },
  };

  const describing: Tool = {
    name: 'describe',
    description: 'Kinds of record and reports; with name, the filters and fields of one. Call it before the first find of a kind.',
    annotations: READS,
    arguments: { name: { type: 'string' }, from: { type: 'integer', min: 1, max: 10_000, description: 'line to go on from' } },
    example: { name: 'invoices' },
    isLocal: true,
    run({ given }) {
      const { name, from = 1 } = given as unknown as Partial<Given>;
      if (name === undefined) return text(`Kinds: ${[...kinds.keys()].join(', ')}.\nReports: ${[...reports.keys()].join(', ')}.`);
      const operation = kinds.get(name)?.list ?? reports.get(name);
      if (operation === undefined) return unknown(name, new Map<string, unknown>([...kinds, ...reports]), describing.example);
      const lines = describe(operation).slice(from - 1);
      const fits = fitting(lines);
      const rest = fits < lines.length ? `\nThere is more: call again with from ${from + fits}.` : '';
      return text(lines.slice(0, fits).join('\n') + rest);
    },
  };

  return [describing, find, get, report, changes];
}

/** The arguments that were given. What was not given must not hide a filter of the same name. */
const defined = (given: Json): Json => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

/** A page as text. If it does not fit, requests one with fewer records, because only the service knows where that page ends. */
async function page({ ask }: ToolCall, { example }: Tool, route: string, query: Json, write: (row: Json) => string): Promise<ToolAnswer> {
  for (let limit = query['limit']; ; ) {
    const answer = await ask({ path: route + queryOf({ ...query, limit }) });
    if (answer.status !== 200) return refusal(answer, example);
    const lines = rowsOf(answer).map((row) => write(row));
    const fits = fitting(lines);
    if (fits === lines.length) {
      const next = nextOf(answer.body);
      const rest =
        next === undefined
          ? 'That is all.'
          : `${next.hasMore ? 'There is more' : 'For later changes'}: call again with the same arguments and cursor ${next.cursor}`;
      return text(`${lines.length} of ${route}. ${rest}\n${fenced(lines)}`);
    }
    limit = fits;
  }
}

/** Where a list or the change feed goes on. Only the feed goes on after its last page. */
function nextOf({ pagination, nextCursor, hasMore = true }: ApiBody): { cursor: string; hasMore: boolean } | undefined {
  const cursor = nextCursor ?? pagination?.next_cursor ?? pagination?.nextCursor ?? undefined;
  return cursor === undefined ? undefined : { cursor, hasMore };
}

function rowsOf({ body }: InnerAnswer): readonly Json[] {
  return body.data as readonly Json[];
}

/** Path of one record: of the list if the API has no detail of this kind. */
function oneOf({ list, detail }: CatalogKind, id: string): string {
  return detail === undefined ? list.route + queryOf({ ids: id }) : `${list.route}/${encodeURIComponent(id.toWellFormed())}`;
}
