import { Resolver } from 'node:dns/promises';
import { AttemptError } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { ExchangeFailure } from './failure.ts';

/** Returns all addresses of a name. Rejects with ExchangeFailure if there are none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/**
 * Queries only DNS servers, because the hosts file and search domains name our own network. Unlike dns.lookup, it needs none of the
 * four threads per process, which one dead name server could block. `servers` are DNS servers instead of the system's, for tests.
 */
export function createResolve(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const reason = answers.find((answer) => answer.status === 'rejected')?.reason as { code?: string } | undefined;
    const unknown = reason?.code === 'ENOTFOUND' || reason?.code === 'ENODATA';
    throw new ExchangeFailure(AttemptError.NAME, unknown ? 'The host has no address.' : 'The name of the host could not be resolved.', reason);
  };
}
