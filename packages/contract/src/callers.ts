// Which component may call which rpc, from the contract's options (truckroll.options.v1.callers and rpc_callers).
import type { Caller as Declared } from './gen/truckroll/options/v1/options.ts';
import { allServices, option, registry } from './image.ts';

type Hyphened<S extends string> = S extends `${infer First}_${infer Rest}` ? `${Lowercase<First>}-${Hyphened<Rest>}` : Lowercase<S>;
type NameOf<S extends string> = S extends `CALLER_${infer Rest}` ? Hyphened<Rest> : never;

/** A component that calls others: `gateway`, `webhook-dispatcher`, `operator` or a service. */
export type Caller = Exclude<NameOf<Declared>, 'unspecified'>;

const byNumber = new Map<number, Caller>();
for (const { number, name } of registry.getEnum('truckroll.options.v1.Caller')?.values ?? []) {
  if (number !== 0) byNumber.set(number, name.slice('CALLER_'.length).toLowerCase().replaceAll('_', '-') as Caller);
}

export const callers: readonly Caller[] = [...byNumber.values()];

const byRpc = new Map<string, ReadonlySet<Caller>>();
for (const service of allServices()) {
  const ofService = option<number[]>(service, 'truckroll.options.v1.callers') ?? [];
  for (const method of service.methods) {
    const declared = option<number[]>(method, 'truckroll.options.v1.rpc_callers') ?? ofService;
    byRpc.set(`/${service.typeName}/${method.name}`, new Set(declared.flatMap((number) => byNumber.get(number) ?? [])));
  }
}

export const rpcs: readonly string[] = [...byRpc.keys()];

/** Components that may call the rpc with this gRPC path; empty if the contract names none or does not have the rpc. */
export function callersOf(rpc: string): ReadonlySet<Caller> {
  return byRpc.get(rpc) ?? NO_CALLERS;
}

const NO_CALLERS: ReadonlySet<Caller> = new Set();
