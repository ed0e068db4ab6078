// Compares filtered pages with the unfiltered one, alternating, by calling the owning service directly.
import { codec, type Parameter, type Resource } from '@truckroll/contract';
import type { Channel } from '@truckroll/grpc';
import { alternate } from '../measure/latency.ts';

interface MeasuredCompany {
  readonly id: string;
  readonly timezone: string;
}

interface FilterTime {
  /** Such as `dispatch_status=ASSIGNED`. */
  filter: string;
  milliseconds: number;
  /** Compared with the unfiltered page in the same rounds. */
  ratio: number;
  /** Date ranges are listed separately: a page in the middle of the data is a different page. */
  range: boolean;
}

const PAGE = 100;
/** Pages that filter values are sampled from, so that frequent and rare ids occur as often as in the data. */
const SAMPLED_PAGES = 20;
const VALUES_OF_A_FILTER = 5;

type Filter = Readonly<Record<string, unknown>>;
interface Case {
  name: string;
  filter: Filter;
  range: boolean;
}

export async function compareFilters(owner: Channel, of: Resource, company: MeasuredCompany, rounds: number): Promise<FilterTime[]> {
  const page = pageReader(owner, of, company);
  const records: Record<string, unknown>[] = [];
  for (let n = 0, after: Uint8Array = new Uint8Array(); n < SAMPLED_PAGES; n++) {
    const { data, next } = await page({}, after);
    records.push(...data);
    if (next.length === 0) break;
    after = next;
  }
  const cases = of.list.parameters.flatMap((parameter) => casesOf(parameter, records));
  const times: FilterTime[] = [];
  for (const { name, filter, range } of cases) {
    const [filtered, plain] = await alternate(
      () => page(filter),
      () => page({}),
      rounds,
    );
    times.push({ filter: name, milliseconds: filtered, ratio: filtered / plain, range });
  }
  return times;
}

function pageReader(owner: Channel, { list }: Resource, { id, timezone }: MeasuredCompany) {
  const request = codec(list.request.typeName);
  const empty = request.decode(new Uint8Array()) as object;
  return async (filter: Filter, after: Uint8Array = new Uint8Array()) => {
    const collection = { company_id: id, time_zone: timezone, limit: PAGE, after, ids: filter['ids'] ?? [], ...instants(filter) };
    const bytes = await owner.call(list.rpc, Buffer.from(request.encode({ ...empty, ...filter, collection }).finish()));
    return codec(list.response.typeName).decode(bytes) as { data: Record<string, unknown>[]; next: Uint8Array };
  };
}

function instants(filter: Filter): Filter {
  const names = ['created_from', 'created_before', 'updated_since'];
  return Object.fromEntries(names.flatMap((name) => (name in filter ? [[name, filter[name]]] : [])));
}

function casesOf(parameter: Parameter, records: readonly Record<string, unknown>[]): Case[] {
  const { name, field, filter } = parameter;
  if (filter === undefined) return [];
  const one = (value: unknown, shown = String(value)): Case => {
    return {
      name: `${name}=${shown}`,
      filter: { [name]: field.repeated ? [value] : value },
      range: filter.comparison === 'from' || filter.comparison === 'before',
    };
  };
  if (field.kind === 'boolean') return [one(true), one(false)];
  if (field.enum !== undefined) return [...field.enum.generated].map(([shown, value]) => one(value, shown));
  const values = [...new Set(records.flatMap((record) => at(record, filter.field.split('.'))))];
  const step = Math.max(1, Math.floor(values.length / VALUES_OF_A_FILTER));
  const some = values.filter((_, index) => index % step === 0).slice(0, filter.comparison === 'any' ? VALUES_OF_A_FILTER : 1);
  if (field.kind === 'local_date') return [one(new Date((some[0] as number) / 1000).toISOString().slice(0, 10))];
  return some.map((value) => one(value));
}

function at(value: unknown, path: readonly string[]): unknown[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((element) => at(element, path));
  const [name, ...rest] = path;
  return name === undefined ? [value] : at((value as Record<string, unknown>)[name], rest);
}
