// Finds the server that accepts writes. The client library's createCluster and createSentinel are not used: they queue commands while
// they look for another server, and hide the connection whose answers prove that no message was missed.
import { formatAddress } from '@truckroll/process';
import type { RedisClient } from './client.ts';
import type { Login, RedisNode, RedisServers } from './servers.ts';

/** Prefix of every key in a cluster. The braces put all keys into one slot, so that multi-key commands, transactions and scripts work. */
export const CLUSTER_PREFIX = 'truckroll:{truckroll}:';
const SWITCHED = '+switch-master';

export interface Search {
  readonly servers: Exclude<RedisServers, { kind: 'single' }>;
  /** Counts from 0, so that each attempt asks the next node. */
  readonly attempt: number;
  open(node: RedisNode, login: Login): Promise<RedisClient>;
  /** Called when a Sentinel announces a new master, unless `findMaster` has already returned that server. */
  onSwitch(): void;
}

/** Rejects if the node is unreachable, does not know the master, or is the wrong kind of server. */
export async function findMaster({ servers, attempt, open, onSwitch }: Search): Promise<RedisNode> {
  const asked = servers.nodes[attempt % servers.nodes.length]!;
  if (servers.kind === 'cluster') {
    const client = await open(asked, servers.login);
    const [slot, ranges] = await Promise.all([client.clusterKeySlot(CLUSTER_PREFIX), client.clusterSlots()]);
    client.destroy();
    const owner = ranges.find(({ from, to }) => from <= slot && slot <= to)?.master;
    if (owner === undefined) throw new Error(`No node of the Redis Cluster has slot ${slot}`);
    // A node that does not know its own address leaves it out.
    return { host: owner.host || asked.host, port: owner.port };
  }
  // Stays open: it reports a failover even if the old master still answers.
  const client = await open(asked, servers.sentinelLogin);
  let found = '';
  await client.subscribe(SWITCHED, (message) => {
    const [name, , , host, port] = message.split(' ');
    // Sentinels answer with the new master before they announce it.
    if (name === servers.master && `${host} ${port}` !== found) onSwitch();
  });
  const address = await client.sendCommand<[string, string] | null>(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', servers.master]);
  if (address === null) throw new Error(`The Sentinel at ${formatAddress(asked.host, asked.port)} watches no master named ${JSON.stringify(servers.master)}`);
  found = address.join(' ');
  return { host: address[0], port: Number(address[1]) };
}
