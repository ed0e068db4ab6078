import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import { pathToFileURL } from 'node:url';
import { readConfig } from '@truckroll/process';
import { checkKafka, kafkaSettings } from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'truckroll-kafka-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A certificate that is its own authority, and its key. */
function certificate(name: string): { certificate: string; key: string; file: string } {
  const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -addext subjectAltName=DNS:localhost';
  execFileSync('openssl', [...request.split(' '), '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.pem`], { cwd: folder, stdio: 'pipe' });
  const file = join(folder, `${name}.pem`);
  return { certificate: readFileSync(file, 'utf8'), key: readFileSync(join(folder, `${name}.key`), 'utf8'), file };
}

const broker = certificate('broker');
const billing = certificate('billing');
const other = certificate('other');

test('presents its certificate to a broker that asks for one', async () => {
  const server = createServer({ cert: broker.certificate, key: broker.key, ca: billing.certificate, requestCert: true }).listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const script = `
    import { createKafka, kafkaSettings } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, '../src/kafka.ts')).href)};
    import { readConfig } from '@truckroll/process';
    import { silentLog } from '@truckroll/telemetry';
    await createKafka('test', readConfig(kafkaSettings(), process.env), silentLog).admin().connect();`;
  const environment = {
    KAFKA_BROKERS: `localhost:${port}`,
    KAFKA_TLS: 'true',
    KAFKA_TLS_CERTIFICATE_FILE: billing.file,
    KAFKA_TLS_KEY: billing.key,
    NODE_EXTRA_CA_CERTS: broker.file,
  };
  const client = spawn(process.execPath, ['--input-type=module', '--eval', script], { cwd: import.meta.dirname, env: environment, stdio: 'ignore' });
  try {
    const [socket] = (await once(server, 'secureConnection')) as [TLSSocket];
    expect({ authorized: socket.authorized, name: socket.getPeerCertificate().subject?.CN }).toEqual({ authorized: true, name: 'billing' });
    socket.destroy();
  } finally {
    client.kill();
    server.close();
  }
});

test.each([
  ['a key without its certificate', { KAFKA_TLS: 'true', KAFKA_TLS_KEY: billing.key }, 'KAFKA_TLS_CERTIFICATE and KAFKA_TLS_KEY go together: set both or none'],
  ['a certificate without TLS', { KAFKA_TLS_CERTIFICATE: billing.certificate, KAFKA_TLS_KEY: billing.key }, 'set KAFKA_TLS to true'],
  [
    "another certificate's key",
    { KAFKA_TLS: 'true', KAFKA_TLS_CERTIFICATE: billing.certificate, KAFKA_TLS_KEY: other.key },
    'KAFKA_TLS_CERTIFICATE or KAFKA_TLS_KEY cannot be used: ',
  ],
])('refuses %s at start', (_, environment, message) => {
  expect(() => readConfig(kafkaSettings(), { KAFKA_BROKERS: 'kafka:9092', ...environment }, [checkKafka])).toThrow(message);
});
