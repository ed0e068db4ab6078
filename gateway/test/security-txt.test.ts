import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { request, startGateway, type TestGateway } from './support/gateway.ts';

const PATH = '/.well-known/security.txt';

describe('security.txt', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ SECURITY_CONTACT: 'https://example.com/report', PUBLIC_URL: 'https://api.example.com/trucks/' });
  });
  afterAll(() => gateway.stop());

  test('needs no credential and names the operator’s contact', async () => {
    const { status, headers, text } = await request(gateway.url + PATH);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(text.split('\n')).toEqual([
      'Contact: https://example.com/report',
      expect.stringMatching(/^Expires: \d{4}-\d\d-\d\dT00:00:00Z$/),
      'Preferred-Languages: en',
      'Canonical: https://api.example.com/trucks/.well-known/security.txt',
      '',
    ]);
  });

  test('answers GET and HEAD only', async () => {
    expect((await request(gateway.url + PATH, { method: 'HEAD' })).status).toBe(200);
    const { status, headers } = await request(gateway.url + PATH, { method: 'POST' });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('names the address of SECURITY.md by default', async () => {
    const plain = await startGateway({}, { identities: gateway.identities, invoices: gateway.invoices });
    try {
      const { text } = await request(plain.url + PATH);
      const contact = /^Contact: mailto:(\S+)$/m.exec(text)?.[1];
      expect(readFileSync(join(import.meta.dirname, '../../SECURITY.md'), 'utf8')).toContain(`<${contact}>`);
      expect(text).not.toContain('Canonical');
    } finally {
      await plain.stop();
    }
  });
});
