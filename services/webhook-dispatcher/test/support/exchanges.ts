import { parseDeniedTargets } from '@truckroll/webhook-targets';
import { Connections } from '../../src/send/connections.ts';
import { createDial } from '../../src/send/dial.ts';
import { exchange, type ExchangeResult } from '../../src/send/exchange.ts';
import type { Resolve } from '../../src/send/resolve.ts';
import { certificate } from './certificate.ts';

export interface Exchanges {
  /** Rejects if no connection was free. */
  send(url: string, endpointId?: string, companyId?: string): Promise<ExchangeResult>;
  close(): Promise<void>;
}

/** Exchanges like those of the dispatcher, with a name resolver given by the test. */
export function exchanges(
  options: { allowed?: string[]; denied?: string[]; allowHttp?: boolean; resolve?: Resolve; timeoutMs?: number; mostPerAddress?: number } = {},
): Exchanges {
  const {
    allowed = [],
    denied = [],
    allowHttp = false,
    timeoutMs = 15_000,
    mostPerAddress = 100,
    resolve = async (name) => {
      throw new Error(`the test must not resolve ${name}`);
    },
  } = options;
  const policy = { allowHttp, allowedTargets: allowed, deniedTargets: parseDeniedTargets(denied) };
  const connections = new Connections({ dial: createDial({ policy, resolve, ca: certificate }), mostPerAddress });
  const request = { headers: { 'content-type': 'application/json' }, body: Buffer.from('{"hello":"world"}') };
  return {
    async send(url, endpointId = 'endpoint', companyId = 'company') {
      const result = await exchange({ connections, policy, timeoutMs, bodyLimit: 64 * 1024 }, { endpointId, companyId, url, ...request });
      if (result === undefined) throw new Error('no connection was free');
      return result;
    },
    close: () => connections.close(),
  };
}
