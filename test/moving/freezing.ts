// Calls of FreezeService without a service.
import type { FreezeState } from '@truckroll/contract/gen/records/v1/freezes';
import type { BackgroundPart } from '@truckroll/process';
import { freezing, type FreezeOptions } from '../../packages/erasure/src/freeze.ts';

interface Answer {
  readonly state?: FreezeState;
  readonly tables?: string[];
}

/** `signal`: that of a caller who cancels. */
export type Call = (request: { company_id: string }, signal?: AbortSignal) => Promise<Answer>;
export type Calls = Record<'getFreeze' | 'prepareFreeze' | 'freeze' | 'unfreeze' | 'removeFences', Call>;

const parts: BackgroundPart[] = [];

export async function disconnect(): Promise<void> {
  for (const part of parts.splice(0)) await part.stop();
}

export function callsOf(options: Omit<FreezeOptions, 'background'>): Calls {
  type Handler = (request: object, context: { signal: AbortSignal }) => Promise<Answer>;
  const handlers = Object.entries(freezing({ ...options, background: (part) => void parts.push(part) }) as unknown as Record<string, Handler>);
  const never = new AbortController().signal;
  return Object.fromEntries(handlers.map(([name, handler]): [string, Call] => [name, (request, signal = never) => handler(request, { signal })])) as Calls;
}
