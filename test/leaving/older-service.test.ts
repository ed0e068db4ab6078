// During an upgrade a service may be of a release that cannot delete companies: nothing is deleted then.
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { addressVariable, owners } from '@truckroll/contract';
import { ErasureServiceService } from '@truckroll/contract/gen/records/v1/erasures';
import { createGrpcServer } from '@truckroll/grpc';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { testCaller, testConfig } from '@truckroll/testing';
import { truckroll } from '../../tools/cli/test/system.ts';

test('refuses to delete a company while one service is of an earlier release, and says which', async () => {
  const erased: string[] = [];
  const servers = await Promise.all(
    owners.map(async (owner) => {
      const server = createGrpcServer({ log: silentLog, metrics: createMetrics(owner), callers: { accepted: testConfig.callerCredentials } });
      if (owner !== 'billing') {
        server.implement(ErasureServiceService, {
          getErasure: async () => ({ erasure: null, left: [{ table: 'jobs', rows: 1 }] }),
          async *eraseCompany() {
            erased.push(owner);
            yield { erasure: null };
          },
        });
      }
      return { owner, server, port: await server.listen(0, '127.0.0.1') };
    }),
  );
  try {
    const addresses = Object.fromEntries(servers.map(({ owner, port }) => [addressVariable(owner), `127.0.0.1:${port}`]));
    const env = { CALL_CREDENTIAL: testCaller('operator').text, ...addresses };
    const outcome = await truckroll(['company', 'delete', randomUUID(), '--yes-delete', 'Lone Star Comfort'], env, tmpdir());
    expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining('billing is of a release that cannot delete companies') });
    expect(erased).toEqual([]);
  } finally {
    await Promise.all(servers.map(({ server }) => server.drain(0)));
  }
});
