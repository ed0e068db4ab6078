import { execFileSync } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { testCallers, testConfig } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { createGrpcServer, openChannel, type TlsConfig } from '../src/index.ts';
import { EchoService, echoCallers } from './echo.ts';

const folder = mkdtempSync(join(tmpdir(), 'truckroll-tls-'));
const at = (name: string) => join(folder, name);
const openssl = (command: string) => execFileSync('openssl', command.split(' '), { cwd: folder, stdio: 'pipe' });

function authority(name: string): TlsConfig {
  const ec = 'req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj';
  openssl(`${ec} /CN=${name} -x509 -days 2 -keyout ${name}-ca.key -out ${name}-ca.pem`);
  openssl(`${ec} /CN=component -keyout ${name}.key -out ${name}.csr`);
  writeFileSync(at('san'), 'subjectAltName=IP:127.0.0.1\n');
  openssl(`x509 -req -in ${name}.csr -CA ${name}-ca.pem -CAkey ${name}-ca.key -CAcreateserial -days 2 -extfile san -out ${name}.pem`);
  return { tlsCertFile: at(`${name}.pem`), tlsKeyFile: at(`${name}.key`), tlsCaFile: at(`${name}-ca.pem`) };
}

const ours = authority('ours');
const theirs = authority('theirs');
afterAll(() => rmSync(folder, { recursive: true }));

const unused = () => {
  throw new Error('not used');
};
async function say(server: TlsConfig, client: TlsConfig): Promise<string> {
  const echo = createGrpcServer({
    log: silentLog,
    metrics: createMetrics('tls'),
    callers: { accepted: testConfig.callerCredentials, mayCall: echoCallers },
    tls: server,
  });
  echo.implement(EchoService, { say: (word) => word, split: unused, each: unused });
  const channel = openChannel(`127.0.0.1:${await echo.listen(0, '127.0.0.1')}`, { credentials: testCallers.slice(0, 1), tls: client, deadlineMs: 3000 });
  try {
    return (await channel.client(EchoService).say({ text: 'hello' })).text;
  } catch (error) {
    return `${(error as { status: number }).status}`;
  } finally {
    channel.close();
    await echo.drain(100);
  }
}

test('components that share a CA communicate over TLS', async () => {
  expect(await say(ours, { tlsCaFile: ours.tlsCaFile })).toBe('hello');
});

test('a server with a certificate of another CA is not called', async () => {
  expect(await say(theirs, { tlsCaFile: ours.tlsCaFile })).toBe('503');
});

test('a client that must use TLS sends nothing in the clear', async () => {
  const received: Buffer[] = [];
  const trap = createServer(
    (socket) =>
      void socket
        .on('error', () => undefined)
        .on('data', (bytes) => {
          received.push(bytes);
          socket.destroy();
        }),
  );
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', () => resolve()));
  const channel = openChannel(`127.0.0.1:${(trap.address() as AddressInfo).port}`, {
    credentials: testCallers,
    tls: { tlsCaFile: ours.tlsCaFile },
    deadlineMs: 3000,
  });
  await expect(channel.client(EchoService).say({ text: 'hello' })).rejects.toMatchObject({ status: 503 });
  channel.close();
  trap.close();
  // The first byte of a TLS handshake.
  expect([...new Set(received.map((bytes) => bytes[0]))]).toEqual([0x16]);
  expect(Buffer.concat(received).toString('latin1')).not.toMatch(/Bearer|PRI \* HTTP/);
});

test('a server that uses TLS accepts no call in the clear', async () => {
  expect(await say(ours, {})).toBe('503');
});

test('with GRPC_TLS_CLIENT_CERTIFICATES only callers with a certificate of the CA are served', async () => {
  const strict = { ...ours, tlsClientCertificates: true };
  expect(await say(strict, ours)).toBe('hello');
  expect(await say(strict, { tlsCaFile: ours.tlsCaFile })).toBe('503');
  expect(await say(strict, { ...theirs, tlsCaFile: ours.tlsCaFile })).toBe('503');
});

const shown = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] }, () => {
      resolve(String(socket.getPeerCertificate().issuer.CN));
      socket.destroy();
    }).on('error', reject);
  });

test('renewed certificate files are used for new connections, and a half-finished renewal changes nothing', async () => {
  const live: TlsConfig = { tlsCertFile: at('live.pem'), tlsKeyFile: at('live.key'), tlsCaFile: at('live-ca.pem') };
  const put = (kind: 'pem' | 'key' | 'ca', from: string) =>
    copyFileSync(at(kind === 'ca' ? `${from}-ca.pem` : `${from}.${kind}`), at(kind === 'ca' ? 'live-ca.pem' : `live.${kind}`));
  for (const kind of ['pem', 'key', 'ca'] as const) put(kind, 'ours');
  const refreshed = { ...live, tlsRefreshMs: 5 };
  const echo = createGrpcServer({
    log: silentLog,
    metrics: createMetrics('tls'),
    callers: { accepted: testConfig.callerCredentials, mayCall: echoCallers },
    tls: refreshed,
  });
  echo.implement(EchoService, { say: (word) => word, split: unused, each: unused });
  const port = await echo.listen(0, '127.0.0.1');
  const open = (tls: TlsConfig) => openChannel(`127.0.0.1:${port}`, { credentials: testCallers.slice(0, 1), tls, deadlineMs: 10_000 });
  const text = async (channel: ReturnType<typeof open>) => (await channel.client(EchoService).say({ text: 'hello' })).text;
  const before = open(refreshed);
  expect(await text(before)).toBe('hello');

  put('pem', 'theirs');
  for (let n = 0; n < 40; n++) expect(await shown(port)).toBe('ours');
  rmSync(at('live.pem'));
  for (let n = 0; n < 40; n++) expect(await shown(port)).toBe('ours');
  put('pem', 'theirs');
  put('key', 'theirs');
  put('ca', 'theirs');
  await until('the new certificate', async () => (await shown(port)) === 'theirs');
  expect(await text(before)).toBe('hello');
  const after = open({ tlsCaFile: theirs.tlsCaFile });
  expect(await text(after)).toBe('hello');
  before.close();
  after.close();
  await echo.drain(100);
});

test('unusable files are reported at start', async () => {
  await expect(say({ tlsCertFile: ours.tlsCertFile }, {})).rejects.toThrow('GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE go together');
  await expect(say({ ...ours, tlsCertFile: at('absent.pem') }, {})).rejects.toThrow(/cannot be used: ENOENT/);
  await expect(say({ ...ours, tlsKeyFile: theirs.tlsKeyFile }, {})).rejects.toThrow(/cannot be used: .*mismatch/);
  await expect(say({ tlsCertFile: ours.tlsCertFile, tlsKeyFile: ours.tlsKeyFile, tlsClientCertificates: true }, {})).rejects.toThrow(
    'GRPC_TLS_CA_FILE is missing',
  );
});
