// How servers and clients of rpcs find each other: IPv6, and no proxy.
import { once } from 'node:events';
import { connect } from 'node:http2';
import { testCallers } from '@truckroll/testing';
import { formatAddress } from '@truckroll/process';
import { openChannel } from '../src/index.ts';
import { EchoService, startEcho } from './echo.ts';

test.each([
  ['::1', '::1'],
  ['::', '::1'],
  ['::', '127.0.0.1'],
])('a server that listens on %s is reached at %s, and asks its clients to leave when it drains', async (host, peer) => {
  const { server, port, stop } = await startEcho({}, 0, undefined, {}, host);
  const channel = openChannel(formatAddress(peer, port), { credentials: testCallers.slice(0, 1) });
  expect(await channel.client(EchoService).say({ text: 'hello' })).toEqual({ text: 'hello' });
  channel.close();
  const session = connect(`http://${formatAddress(peer, port)}`);
  await once(session, 'connect');
  const leaving = once(session, 'goaway');
  const gone = server.drain(100, 50);
  await leaving;
  session.destroy();
  await gone;
  await stop();
});

describe('with proxies in the environment', () => {
  const names = ['http_proxy', 'https_proxy', 'grpc_proxy', 'all_proxy'].flatMap((name) => [name, name.toUpperCase()]);
  const before = names.map((name) => [name, process.env[name]] as const);
  beforeEach(() => void names.forEach((name) => (process.env[name] = 'http://127.0.0.1:1')));
  afterEach(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  test('calls between components go straight to the peer', async () => {
    const { client, stop } = await startEcho();
    expect(await client.say({ text: 'hello' })).toEqual({ text: 'hello' });
    await stop();
  });
});
