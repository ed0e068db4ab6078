import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createLog, createMetrics } from '@truckroll/telemetry';
import { StartedRedisServers, redisCli, type RedisServer } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { RedisLink, parseRedisUrl } from '../src/index.ts';

const servers = new StartedRedisServers();
const opened: RedisLink[] = [];
afterEach(() => opened.splice(0).forEach((link) => link.stop()));
afterAll(() => servers.end());

/** In as many slots as the gateway's keys, under other names. */
const KEYS = Array.from({ length: 16 }, (_, n) => `key:${n}`);

const ask = ({ port }: RedisServer, ...command: readonly string[]) => redisCli('-p', String(port), ...command);

function linkTo(url: string, prepare: () => Promise<unknown> = async () => undefined) {
  const lines: string[] = [];
  let changed = Promise.withResolvers<void>();
  const change = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  let readies = 0;
  const metrics = createMetrics('test');
  const link = new RedisLink({
    servers: parseRedisUrl(url)!,
    name: 'test',
    keys: KEYS,
    prepare,
    log: createLog('test', 'info', { write: (line) => (lines.push((JSON.parse(line) as { msg: string }).msg), change()) }),
    metrics,
    onReady: () => (readies++, change()),
  });
  opened.push(link);
  link.start();
  return {
    link,
    async ready(times = 1): Promise<void> {
      while (readies < times) await changed.promise;
    },
    async says(text: RegExp): Promise<void> {
      while (!lines.some((line) => text.test(line))) await changed.promise;
    },
    get readies() {
      return readies;
    },
    lines,
    metrics,
  };
}

/** Keeps this process from doing anything else. */
function pause(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('reaches a server at an IPv6 address', async () => {
  const { port } = await servers.server('--bind', '::1');
  const { link, ready, lines } = linkTo(`redis://[::1]:${port}`);
  await ready();
  expect(await link.run('GET', (client) => client.get('missing'))).toBeNull();
  expect(lines).toEqual([]);
});

test('is ready on a server that accepts writes, runs commands, and does not overwrite its keys', async () => {
  const server = await servers.server();
  await ask(server, 'SET', KEYS[0]!, 'kept');
  const { link, ready } = linkTo(server.url);
  await ready();
  expect(link.ready).toBe(true);
  expect(await link.run('read', (client) => client.get(KEYS[0]!))).toBe('kept');
  expect(await ask(server, 'EXISTS', ...KEYS)).toBe('16');
});

test('logs an outage once, however many attempts to connect fail, and its end', async () => {
  const server = await servers.server();
  let attempts = 0;
  const failed = Promise.withResolvers<void>();
  const { ready, lines } = linkTo(server.url, async () => {
    attempts += 1;
    if (attempts === 3) failed.resolve();
    if (attempts <= 3) throw new Error('not prepared');
  });
  await failed.promise;
  await ready();
  expect([attempts, lines]).toEqual([4, ['Redis does not answer', 'Redis answers again']]);
});

test('logs again if an outage turns out to have a cause that the operator can remove', async () => {
  const server = await servers.server();
  const causes = [new Error('away'), new Error('away'), new Error('OOM command not allowed'), new Error('OOM command not allowed'), new Error('away')];
  const { ready, lines } = linkTo(server.url, async () => {
    const cause = causes.shift();
    if (cause !== undefined) throw cause;
  });
  await ready();
  expect(lines).toEqual(['Redis does not answer', expect.stringMatching(/^Redis cannot be used: the server has used its maxmemory/), 'Redis answers again']);
});

test('gives up a server that accepts connections and sends nothing', async () => {
  const silent = createServer();
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const { link, says } = linkTo(`redis://127.0.0.1:${(silent.address() as AddressInfo).port}`);
  await says(/^Redis does not answer/);
  expect(link.ready).toBe(false);
  link.stop();
  silent.close();
});

test('records how long commands take, and which failed', async () => {
  const server = await servers.server();
  const { link, ready, metrics } = linkTo(server.url);
  await expect(link.run('early', (client) => client.get('a'))).rejects.toThrow('Redis is unavailable');
  await ready();
  await link.run('read', (client) => client.get('a'));
  await expect(link.run('wrong', (client) => client.sendCommand(['NONE']))).rejects.toThrow('unknown command');
  const counted = [...(await metrics.render()).body.matchAll(/_seconds_count\{.*db_system_name="(.*)",db_query_summary="(.*)",error_type="(.*)"\} (\d+)/g)];
  expect(counted.map(([, ...of]) => of.join(' '))).toEqual(['redis read  1', 'redis wrong unavailable 1']);
  link.stop();
  await expect(link.run('late', (client) => client.get('a'))).rejects.toThrow('Redis is unavailable');
  expect(link.ready).toBe(false);
});

test('leaves no connection behind when it is stopped while connecting', async () => {
  const server = await servers.server();
  linkTo(server.url).link.stop();
  await linkTo(server.url).ready();
  expect((await ask(server, 'CLIENT', 'LIST')).match(/name=test/g)).toHaveLength(1);
});

test('does not become ready when it stops while it prepares a connection', async () => {
  const server = await servers.server();
  const [begun, prepared] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const stopped = linkTo(server.url, () => {
    begun.resolve();
    return prepared.promise;
  });
  await begun.promise;
  stopped.link.stop();
  prepared.resolve();
  await linkTo(server.url).ready();
  expect([stopped.link.ready, stopped.readies]).toEqual([false, 0]);
});

describe('the link to a server that answers pings but refuses writes', () => {
  test.each<[string, () => Promise<string>, RegExp]>([
    [
      'a read-only replica',
      async () => (await servers.server('--replicaof', `127.0.0.1 ${(await servers.server()).port}`)).url,
      /^Redis cannot be used: the server is a read-only replica: name the master in REDIS_URL/,
    ],
    [
      'a full server that may evict nothing',
      async () => (await servers.server('--maxmemory', '1', '--maxmemory-policy', 'noeviction')).url,
      /^Redis cannot be used: the server has used its maxmemory: raise it/,
    ],
    [
      'one node of a cluster that is named as a single server',
      async () => (await cluster()).masters[1]!.url,
      /^Redis cannot be used: the server is one node of a Redis Cluster: begin REDIS_URL with redis\+cluster:/,
    ],
    [
      'a Sentinel that is named as a server',
      async () => (await sentinel()).sentinel.url,
      /^Redis cannot be used: the server is a Sentinel: begin REDIS_URL with redis\+sentinel:/,
    ],
    [
      'a server that is named as a Sentinel',
      async () => `${(await servers.server()).url.replace('redis:', 'redis+sentinel:')}/main`,
      /^Redis cannot be used: the server is not a Sentinel: name the Sentinels in REDIS_URL/,
    ],
    [
      'a server that is named as a cluster',
      async () => (await servers.server()).url.replace('redis:', 'redis+cluster:'),
      /^Redis cannot be used: the server is not part of a Redis Cluster: begin REDIS_URL with redis:/,
    ],
    [
      'a master that no Sentinel knows',
      async () => `${(await sentinel()).sentinel.url.replace('redis:', 'redis+sentinel:')}/mian`,
      /^Redis cannot be used: correct the name of the master at the end of REDIS_URL/,
    ],
    [
      'a server with another password',
      async () => (await servers.server('--requirepass', 'secret')).url.replace('//', '//:wrong@'),
      /^Redis cannot be used: Redis refuses the user or the password/,
    ],
  ])('is not ready, and the log says what to do: %s', async (_, url, line) => {
    const tried = linkTo(await url());
    await tried.says(line);
    expect(tried.link.ready).toBe(false);
    expect(tried.readies).toBe(0);
  });

  test.each<[string, (server: RedisServer, other: RedisServer) => Promise<unknown>, (server: RedisServer) => Promise<unknown>]>([
    ['becomes a replica', (server, other) => ask(server, 'REPLICAOF', '127.0.0.1', String(other.port)), (server) => ask(server, 'REPLICAOF', 'NO', 'ONE')],
    ['fills up', (server) => ask(server, 'CONFIG', 'SET', 'maxmemory', '1'), (server) => ask(server, 'CONFIG', 'SET', 'maxmemory', '0')],
  ])('disconnects when the server %s, and reconnects when that is over', async (_, spoil, repair) => {
    const [server, other] = await Promise.all([servers.server(), servers.server()]);
    const { link, ready, says, lines } = linkTo(server.url);
    await ready();
    await spoil(server, other);
    await says(/^Redis cannot be used/);
    expect(link.ready).toBe(false);
    await repair(server);
    await ready(2);
    expect(lines.at(-1)).toBe('Redis answers again');
  });
});

describe('the link to a server that stops answering', () => {
  /** A link at rest to a server that is halted. Its use has just sent a probe. */
  async function halted() {
    const server = await servers.server();
    const scene = linkTo(server.url);
    await scene.ready();
    while (scene.link.provenAt < 0) await turn();
    server.daemon.kill('SIGSTOP');
    const before = scene.link.provenAt;
    scene.link.rely();
    return { ...scene, server, before };
  }

  test('is given up within a second', async () => {
    const { link, says, server } = await halted();
    await says(/^Redis does not answer/);
    expect(link.ready).toBe(false);
    server.daemon.kill('SIGCONT');
  });

  test('is kept after a pause of this process, which may not have read the answer yet', async () => {
    const { link, server, before, lines } = await halted();
    pause(1000);
    server.daemon.kill('SIGCONT');
    while (link.provenAt === before && link.ready) await turn();
    expect([link.ready, lines]).toEqual([true, []]);
  });

  test('proves nothing that is later than the probe', async () => {
    const { link, server, before } = await halted();
    const sent = performance.now();
    pause(100);
    server.daemon.kill('SIGCONT');
    while (link.provenAt === before) await turn();
    expect(link.provenAt).toBeLessThan(sent);
  });
});

let clustered: ReturnType<StartedRedisServers['cluster']> | undefined;
const cluster = () => (clustered ??= servers.cluster());

describe('the link to a cluster', () => {
  const urlOf = (nodes: readonly RedisServer[]) => `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;

  test('finds a node to which the keys’ slot belongs, but neither of its neighbours', async () => {
    // Not the shared cluster, whose failovers changed slots disturb.
    const { masters } = await servers.cluster();
    const [first, second, third] = masters as [RedisServer, RedisServer, RedisServer];
    const slot = Number(await ask(second, 'CLUSTER', 'KEYSLOT', 'truckroll:{truckroll}:'));
    const id = await ask(third, 'CLUSTER', 'MYID');
    for (const node of [third, second, first])
      for (const neighbour of [slot - 1, slot + 1]) await ask(node, 'CLUSTER', 'SETSLOT', String(neighbour), 'NODE', id);
    const { link, ready } = linkTo(urlOf([first]));
    await ready();
    await link.run('write', (client) => client.set('d', '4'));
    expect(await ask(second, 'GET', 'truckroll:{truckroll}:d')).toBe('4');
  });

  test('finds it through another node when the first is down, and runs multi-key commands, transactions and scripts', async () => {
    const { masters } = await cluster();
    const { link, ready } = linkTo(`redis+cluster://127.0.0.1:1,127.0.0.1:${masters[2]!.port}`);
    await ready();
    await link.run('write', (client) => client.multi().set('a', '1').set('b', '2').exec());
    expect(await link.run('read', (client) => client.mGet(['a', 'b']))).toEqual(['1', '2']);
    expect(await link.run('count', (client) => client.eval(`return redis.call('INCR', KEYS[1]) + redis.call('INCR', KEYS[2])`, { keys: ['a', 'b'] }))).toBe(5);
  });

  test('follows the keys to the node that becomes their master', async () => {
    const { masters, replica } = await cluster();
    const { link, ready } = linkTo(urlOf(masters));
    await ready();
    await ask(replica, 'CLUSTER', 'FAILOVER');
    await ready(2);
    await link.run('write', (client) => client.set('c', '3'));
    expect(await ask(replica, 'GET', 'truckroll:{truckroll}:c')).toBe('3');
  });
});

async function sentinel() {
  const master = await servers.server();
  const replica = await servers.server('--replicaof', `127.0.0.1 ${master.port}`, '--repl-diskless-sync-delay', '0');
  const watching = await servers.sentinel(master);
  await until('a known replica', async () => (await redisCli('-p', String(watching.port), 'SENTINEL', 'REPLICAS', 'main')) !== '');
  return { master, replica, sentinel: watching };
}

/** Begins a failover. The Sentinel refuses it until it knows a replica that it may promote. */
async function failOver(watching: RedisServer, name: string): Promise<void> {
  await until('a failover', async () => (await ask(watching, 'SENTINEL', 'FAILOVER', name)) === 'OK');
}

describe('the link to a master found through Sentinels', () => {
  test('switches to the new master when the old one dies', async () => {
    const { master, replica, sentinel: watching } = await sentinel();
    const { link, ready } = linkTo(`redis+sentinel://127.0.0.1:1,127.0.0.1:${watching.port}/main`);
    await ready();
    master.daemon.kill('SIGKILL');
    await ready(2);
    await link.run('write', (client) => client.set('a', '1'));
    expect(await ask(replica, 'GET', 'a')).toBe('1');
  });

  test('leaves the master when the Sentinels announce another, even if the old one still accepts writes', async () => {
    const { master, replica, sentinel: watching } = await sentinel();
    const { link, ready, says } = linkTo(`redis+sentinel://127.0.0.1:${watching.port}/main`);
    await ready();
    await failOver(watching, 'main');
    await says(/^Redis does not answer/);
    // The Sentinel turns the old master into a replica only after some seconds.
    expect(await ask(master, 'SET', 'a', 'old')).toBe('OK');
    await ready(2);
    await link.run('write', (client) => client.set('a', 'new'));
    expect(await ask(replica, 'GET', 'a')).toBe('new');
  });

  test('stays with its master when the Sentinels announce another whose name begins with its own', async () => {
    const { sentinel: watching } = await sentinel();
    const other = await servers.server();
    await servers.server('--replicaof', `127.0.0.1 ${other.port}`, '--repl-diskless-sync-delay', '0');
    await ask(watching, 'SENTINEL', 'MONITOR', 'main-2', '127.0.0.1', String(other.port), '1');
    const url = `redis+sentinel://127.0.0.1:${watching.port}/main`;
    const [own, neighbour] = [linkTo(url), linkTo(`${url}-2`)];
    await Promise.all([own.ready(), neighbour.ready()]);
    await failOver(watching, 'main-2');
    await neighbour.ready(2);
    expect([own.link.ready, own.readies, own.lines]).toEqual([true, 1, []]);
  });
});
