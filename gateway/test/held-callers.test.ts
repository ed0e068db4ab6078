// Requests that wait are ended when their credential is revoked or expires, and are authenticated again before they answer (decisions §17).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { ApiError, hashApiKey, now } from '@truckroll/contract';
import type { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import { ChangeServiceService } from '@truckroll/contract/gen/records/v1/changes';
import { createGrpcServer, type GrpcServer } from '@truckroll/grpc';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { testConfig } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { SignJWT, exportJWK, generateKeyPair } from 'jose';
import { HeldCallers } from '../src/auth/held-callers.ts';
import type { Exchange } from '../src/http/exchange.ts';
import { publishInvalidation, redisUrl, request, startGateway, untilMetric, type Answer, type TestGateway } from './support/gateway.ts';
import { closeConnections, openConnection } from './support/raw.ts';
import { standInCommands, userName, type Commands } from './support/stand-ins.ts';

afterEach(closeConnections);

const { spyOn } = jest;
const POLL = '/api/v1/integrations/changes?kinds=invoices&wait=30';
const ISSUER = 'https://login.example.com';

interface Caller {
  credential: string;
  principal: Principal;
}

describe('at a running gateway', () => {
  const folder = mkdtempSync(join(tmpdir(), 'jwks-'));
  /** Clients of the test, which leave at its end. */
  let clients: AbortController;
  beforeEach(() => void (clients = new AbortController()));
  afterEach(() => clients.abort());
  const redis = createClient({ url: redisUrl() });
  let feed: GrpcServer;
  let commands: Commands;
  let gateway: TestGateway;
  let sign: (companyId: string, exp: number) => Promise<string>;
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => (stop = resolve));

  beforeAll(async () => {
    feed = createGrpcServer({ log: silentLog, metrics: createMetrics('test'), callers: { accepted: testConfig.callerCredentials } });
    feed.implement(ChangeServiceService, {
      readChanges: ({ positions }) => ({ changes: [], positions, epoch: 0, more: false, as_of: 1, placed: true }),
      digestRecords: () => ({ digests: [], as_of: 1 }),
      // Nothing changes.
      findChanged: () => stopped.then(() => ({ as_of: 2, belows: [], changed: [] })),
    });
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    writeFileSync(join(folder, 'jwks.json'), JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] }));
    sign = (company_id, exp) =>
      new SignJWT({ iss: ISSUER, aud: 'truckroll', sub: 'dana', iat: exp - 60, exp, company_id }).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
    commands = await standInCommands();
    const port = await feed.listen(0, '127.0.0.1');
    feed.setServing(true);
    gateway = await startGateway({
      BILLING_ADDRESS: `127.0.0.1:${port}`,
      SCHEDULING_ADDRESS: `127.0.0.1:${commands.port}`,
      TOKEN_ISSUER: ISSUER,
      TOKEN_AUDIENCE: 'truckroll',
      TOKEN_JWKS_FILE: join(folder, 'jwks.json'),
    });
    await untilMetric(gateway, 'gateway_revocations_proven', 1);
    await redis.connect();
  });
  afterAll(async () => {
    redis.destroy();
    stop();
    await gateway.stop();
    await commands.stop();
    await feed.drain(100);
    rmSync(folder, { recursive: true });
  });

  function byKey(overrides: Partial<Principal> = {}): Caller {
    const { key, principal } = gateway.identities.addKey(overrides);
    return { credential: key, principal };
  }

  async function byToken(lifeSeconds = 60): Promise<Caller> {
    const { principal } = byKey({ kind: 'PRINCIPAL_KIND_USER', key_id: null });
    gateway.identities.principals.set(userName(ISSUER, 'dana', principal.company_id), principal);
    return { credential: await sign(principal.company_id, Math.floor(Date.now() / 1000) + lifeSeconds), principal };
  }

  /** Resolves to the coming answer once the caller's poll is held. */
  async function hold({ credential, principal }: Caller): Promise<{ answer: Promise<Answer> }> {
    const answer = request(gateway.url + POLL, { headers: { authorization: `Bearer ${credential}` }, signal: clients.signal });
    const isHeld = async (): Promise<boolean> => (await redis.zCard(`truckroll:polls:${principal.company_id}`)) === 1;
    await until('the poll to be held', isHeld);
    return { answer };
  }

  function forget({ principal }: Caller): void {
    const { principals } = gateway.identities;
    for (const [name, known] of principals) if (known === principal) principals.delete(name);
  }

  const REFUSED = { status: 401, body: { error: { code: 'UNAUTHENTICATED' } } };

  test.each<[string, () => Promise<Caller> | Caller, (caller: Caller) => string]>([
    ['its key', byKey, ({ credential }) => `key:${hashApiKey(credential).toString('hex')}`],
    ['its user', byToken, ({ principal }) => `user:${principal.user_id}`],
    ['its company', byKey, ({ principal }) => `company:${principal.company_id}`],
  ])('a held poll is ended by the revocation of %s, and others are not', async (_, make, message) => {
    const caller = await make();
    const others = [await hold(byKey()), await hold(await byToken())];
    const ended: unknown[] = [];
    for (const { answer } of others) answer.then(({ status }) => ended.push(status)).catch(() => undefined);
    const poll = await hold(caller);
    forget(caller);
    await publishInvalidation(message(caller));
    expect(await poll.answer).toMatchObject(REFUSED);
    expect(ended).toEqual([]);
  });

  test('a held poll is ended when its token or its key expires', async () => {
    const polls = [await hold(await byToken(3)), await hold(byKey({ expires_at: now() + 3_000_000 }))];
    for (const { answer } of polls) expect(await answer).toMatchObject(REFUSED);
  });

  test('a write whose body arrives a second after its key was revoked has no effect', async () => {
    let at = performance.now();
    const caller = byKey();
    const elapsed = spyOn(performance, 'now').mockImplementation(() => at);
    try {
      const connection = await openConnection(Number(new URL(gateway.url).port));
      const body = JSON.stringify({ expected_revision: 'ab'.repeat(32) });
      const head = [
        'DELETE /v1/job-assignments/0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e HTTP/1.1',
        'Host: x',
        `Authorization: Bearer ${caller.credential}`,
        'Content-Type: application/json',
        'Idempotency-Key: key-12345',
        'Connection: close',
        `Content-Length: ${body.length}`,
      ];
      const name = hashApiKey(caller.credential).toString('hex');
      connection.write(`${head.join('\r\n')}\r\n\r\n`);
      await until('the caller to be looked up', () => gateway.identities.questions.includes(name));
      const before = await gateway.get('/v1/company');
      expect(before.status).toBe(200);
      forget(caller);
      await publishInvalidation(`key:${name}`);
      at += 1001;
      connection.write(body);
      await connection.ended;
      expect(connection.received).toContain('HTTP/1.1 401 ');
      expect(commands.removed).toEqual([]);
    } finally {
      elapsed.mockRestore();
    }
  });
});

describe('a held request', () => {
  const UNAVAILABLE = ApiError.unavailable(new Error('away'));
  const REVOKED = new ApiError('UNAUTHENTICATED', 'Revoked.');

  /** A request whose credential has the validity that the test sets. */
  function holding() {
    const state: { checks: number; error?: Error } = { checks: 0 };
    const callers = new HeldCallers({
      again: async () => {
        state.checks += 1;
        if (state.error !== undefined) throw state.error;
        return { company_id: 'acme' } as Principal;
      },
      endOf: () => ({ keyHash: 'aa' }),
    });
    const { promise: over, resolve: end } = Promise.withResolvers<string>();
    const exchange = { req: { headers: { authorization: 'Bearer x' } }, principal: { company_id: 'acme' } } as unknown as Exchange;
    return { state, callers, end, held: callers.hold(exchange, over) };
  }
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  test('is authenticated again before it answers, although no revocation has arrived', async () => {
    const { state, end, held } = holding();
    await settled();
    state.error = REVOKED;
    end('changes');
    await expect(held).rejects.toBe(REVOKED);
  });

  test('is checked when revocations may have been missed, and goes on if it is valid', async () => {
    const { state, callers, end, held } = holding();
    await settled();
    await callers.checkAll();
    expect(state.checks).toBe(2);
    end('changes');
    expect(await held).toBe('changes');
    await callers.checkAll();
    expect(state.checks).toBe(3);
  });

  test('waits on while nothing can say whether its credential is valid, and then answers 503', async () => {
    const { state, callers, end, held } = holding();
    state.error = UNAVAILABLE;
    await callers.checkAll();
    callers.revoked({ kind: 'key', id: 'aa' });
    await settled();
    expect(state.checks).toBe(3);
    end('changes');
    await expect(held).rejects.toBe(UNAVAILABLE);
  });
});
