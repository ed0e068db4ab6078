// Builds the requests from the OpenAPI document, so that a new list, detail or report is measured automatically.
import { type Ask, type Client, type World } from '../k6/scenarios/api.ts';
import type { Scenario } from '../k6/scenarios/index.ts';
import type { Send } from '../k6/scenarios/world.ts';

interface Named {
  readonly name?: string;
  readonly schema?: { readonly $ref?: string };
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Named[];
}
export interface OpenApi {
  readonly paths: Readonly<Record<string, { readonly get?: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, { readonly enum?: readonly string[] }>> };
}

/** Times one step: the operation, its form, and the work. */
export type Timed = <T>(operation: string, form: string, work: () => Promise<T>) => Promise<T>;

export interface Subject {
  readonly send: (timed: Timed) => Promise<void>;
}

const PAGE = 100;

export async function readSubjects({ paths, components }: OpenApi, send: Send, key: string, period: World['period']): Promise<Subject[]> {
  const subjects: Subject[] = [];
  const add = (operation: string, path: string): void => {
    subjects.push({ send: (timed) => timed(operation, `GET ${path}`, async () => void (await send(get(path, key)))) });
  };
  for (const [path, { get: operation }] of Object.entries(paths)) {
    if (operation === undefined || !path.startsWith('/v1/')) continue;
    const { operationId, parameters = [] } = operation;
    if (path.startsWith('/v1/reports/')) {
      const schema =
        parameters
          .find(({ name }) => name === 'group_by')
          ?.schema?.$ref?.split('/')
          .at(-1) ?? '';
      const range = `start_date=${period.start}&end_date=${period.end}&limit=${PAGE}`;
      add(operationId, `${path}?${range}`);
      for (const group of components.schemas[schema]?.enum ?? []) add(operationId, `${path}?${range}&group_by=${group}`);
    } else if (path.endsWith('/{id}')) {
      const collection = path.slice(0, -'/{id}'.length);
      const page = await send(get(`${collection}?limit=1`, key));
      const [first] = (JSON.parse(page) as { data: { id: string }[] }).data;
      if (first !== undefined) add(operationId, `${collection}/${first.id}`);
    } else add(operationId, parameters.some(({ name }) => name === 'limit') ? `${path}?limit=${PAGE}` : path);
  }
  return subjects;
}

function get(path: string, credential: string): Ask {
  return { path, credential, expect: [200] };
}

export function scenarioSubject(run: Scenario['run'], client: Client, world: World): Subject {
  let number = 0;
  return { send: (timed) => run(timedClient(client, timed), world, { number: number++, own: {} }) };
}

function timedClient(client: Client, timed: Timed): Client {
  return {
    ...client,
    ask(operation, ask) {
      const form = `${ask.method ?? 'GET'} ${withoutIds(ask.path)}`;
      return timed(operation, operation === 'replay' ? `${form}, again under its key` : form, () => client.ask(operation, ask));
    },
  };
}

function withoutIds(path: string): string {
  return path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '{id}');
}
