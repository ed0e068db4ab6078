// Pages of the owning service, called directly, and filters with values that occur in them.
import { codec, type Parameter, type Resource } from '@truckroll/contract';
import type { Channel } from '@truckroll/grpc';
import { TIMEZONE } from '../data/companies.ts';

const PAGE = 100;
/** Pages that filter values are sampled from, so that frequent and rare ids occur as often as in the data. */
const SAMPLED_PAGES = 20;
const VALUES_OF_A_FILTER = 5;

type Values = Readonly<Record<string, unknown>>;
type Reader = ReturnType<typeof pageReader>;

interface Case {
  /** Such as `dispatch_status=ASSIGNED`. */
  readonly name: string;
  readonly filter: Values;
  /** Whether it is one end of a range of dates. */
  readonly range: boolean;
}

export function pageReader(owner: Channel, { list }: Resource, company_id: string, limit = PAGE) {
  const request = codec(list.request.typeName);
  const empty = request.decode(new Uint8Array()) as object;
  return async (filter: Values, after: Uint8Array = new Uint8Array()) => {
    const instants = Object.entries(filter).filter(([name]) => ['created_from', 'created_before', 'updated_since'].includes(name));
    const collection = { company_id, time_zone: TIMEZONE, limit, after, ids: filter['ids'] ?? [], ...Object.fromEntries(instants) };
    const bytes = await owner.call(list.rpc, Buffer.from(request.encode({ ...empty, ...filter, collection }).finish()));
    return codec(list.response.typeName).decode(bytes) as { data: Values[]; next: Uint8Array };
  };
}

export async function sample(page: Reader): Promise<Values[]> {
  const records: Values[] = [];
  for (let n = 0, after: Uint8Array = new Uint8Array(); n < SAMPLED_PAGES; n++) {
    const { data, next } = await page({}, after);
    records.push(...data);
    if (next.length === 0) break;
    after = next;
  }
  return records;
}

export function casesOf({ list }: Resource, records: readonly Values[]): Case[] {
  return list.parameters.flatMap((parameter) => casesOfParameter(parameter, records));
}

function casesOfParameter({ name, field, filter }: Parameter, records: readonly Values[]): Case[] {
  if (filter === undefined) return [];
  const range = filter.comparison === 'from' || filter.comparison === 'before';
  const one = (value: unknown, shown = String(value)): Case => ({ name: `${name}=${shown}`, filter: { [name]: field.repeated ? [value] : value }, range });
  if (field.kind === 'boolean') return [one(true), one(false)];
  if (field.enum !== undefined) return [...field.enum.generated].map(([shown, value]) => one(value, shown));
  const values = [...new Set(records.flatMap((record) => at(record, filter.field.split('.'))))];
  const step = Math.max(1, Math.floor(values.length / VALUES_OF_A_FILTER));
  if (filter.comparison === 'search') return [one('cooling')];
  const some = values.filter((_, index) => index % step === 0).slice(0, filter.comparison === 'any' ? VALUES_OF_A_FILTER : 1);
  if (field.kind === 'local_date') return [one(new Date((some[0] as number) / 1000).toISOString().slice(0, 10))];
  return some.map((value) => one(value));
}

function at(value: unknown, path: readonly string[]): unknown[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((element) => at(element, path));
  const [name, ...rest] = path;
  return name === undefined ? [value] : at((value as Values)[name], rest);
}
