import { Connections } from '../../src/http/connections.ts';
import { createDial } from '../../src/http/dial.ts';
import { exchange, type ExchangeResult } from '../../src/http/exchange.ts';
import type { Resolve } from '../../src/http/resolve.ts';
import { certificate } from './certificate.ts';

export interface Exchanges {
  send(url: string, endpointId?: string): Promise<ExchangeResult>;
  close(): Promise<void>;
}

/** Exchanges as the dispatcher does them, with names that mean what the test says. */
export function exchanges(options: { allowed?: string[]; allowHttp?: boolean; resolve?: Resolve; timeoutMs?: number } = {}): Exchanges {
  const {
    allowed = [],
    allowHttp = false,
    timeoutMs = 15_000,
    resolve = async (name) => {
      throw new Error(`nobody may ask for ${name}`);
    },
  } = options;
  const policy = { allowHttp, allowedTargets: allowed };
  const connections = new Connections(createDial({ policy, resolve, ca: certificate }));
  const request = { headers: { 'content-type': 'application/json' }, body: Buffer.from('{"hello":"world"}') };
  return {
    send: (url, endpointId = 'endpoint') => exchange({ connections, policy, timeoutMs, bodyLimit: 64 * 1024 }, { endpointId, url, ...request }),
    close: () => connections.close(),
  };
}
