// During an upgrade a service may be of a release that cannot delete or export companies, or erase people: nothing is
// deleted then, and no export is complete.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addressVariable, owners, type Owner } from '@truckroll/contract';
import { CompanyAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { ErasureServiceService } from '@truckroll/contract/gen/records/v1/erasures';
import { ExportServiceService } from '@truckroll/contract/gen/records/v1/exports';
import { FreezeServiceService } from '@truckroll/contract/gen/records/v1/freezes';
import { createGrpcServer, type GrpcServer } from '@truckroll/grpc';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { testCaller, testConfig } from '@truckroll/testing';
import { truckroll, type Outcome } from '../../tools/cli/test/system.ts';

/** Runs the command with an installation whose services serve what `implement` gives them. */
async function withServices(implement: (owner: Owner, server: GrpcServer) => void, ...args: string[]): Promise<Outcome> {
  const servers = await Promise.all(
    owners.map(async (owner) => {
      const server = createGrpcServer({ log: silentLog, metrics: createMetrics(owner), callers: { accepted: testConfig.callerCredentials } });
      implement(owner, server);
      return { owner, server, port: await server.listen(0, '127.0.0.1') };
    }),
  );
  try {
    const addresses = Object.fromEntries(servers.map(({ owner, port }) => [addressVariable(owner), `127.0.0.1:${port}`]));
    return await truckroll(args, { CALL_CREDENTIAL: testCaller('operator').text, ...addresses }, tmpdir());
  } finally {
    await Promise.all(servers.map(({ server }) => server.drain(0)));
  }
}

test.each([
  ['delete a company', ['company', 'delete', randomUUID(), '--yes-delete', 'Lone Star Comfort'], 'billing is of a release that cannot delete companies'],
  [
    'erase a person',
    ['person', 'erase', 'contacts', randomUUID(), '--company', randomUUID(), '--yes-erase', 'Marcus Oyelaran'],
    'billing is of a release that cannot erase people',
  ],
  ['freeze a company', ['company', 'freeze', randomUUID()], 'billing is of a release that cannot freeze companies'],
])('refuses to %s while one service is of an earlier release, and says which', async (_, command, reason) => {
  const erased: string[] = [];
  const implement = (owner: Owner, server: GrpcServer): void => {
    if (owner === 'billing') return;
    server.implement(ErasureServiceService, {
      getErasure: async () => ({ erasure: null, left: [{ table: 'jobs', rows: 1 }] }),
      getPerson: async () => ({ name: 'Marcus Oyelaran', erasure: null, known_by: [] }),
      async *findMentions() {
        yield { mentions: [], more: 0 };
      },
    });
    const begins = async (): Promise<never> => {
      erased.push(owner);
      throw new Error('it began');
    };
    server.implement(FreezeServiceService, {
      getFreeze: async () => ({ state: { begun: false, closed: false } }),
      prepareFreeze: begins,
      freeze: begins,
      unfreeze: begins,
      removeFences: begins,
    });
    const company = {
      createCompany: begins,
      listCompanies: async () => ({ companies: [] }),
      updateCompany: begins,
      deleteCompany: begins,
      erasePerson: begins,
      freezeCompany: begins,
      unfreezeCompany: begins,
    };
    if (owner === 'integrations') server.implement(CompanyAdminServiceService, company);
  };
  const outcome = await withServices(implement, ...command);
  expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining(reason) });
  expect(erased).toEqual([]);
});

interface Sent {
  readonly owner: Owner;
  readonly files: readonly string[];
}

/** Exports into the folder. Each service sends its file, or the files that `send` returns instead; without any it lacks the rpc. */
async function exportInto(folder: string, id: string, send: (sent: Sent) => readonly string[] | undefined): Promise<Outcome> {
  const implement = (owner: Owner, server: GrpcServer): void => {
    const settings = { costing_enabled: true, verified_only: true, created_at: 0, updated_at: 0, webhook_endpoint_limit: 1, key_limit: 1, sandbox: false };
    const listed = async () => ({ companies: [{ id, name: 'Lone Star Comfort', timezone: 'America/Chicago', limits: null, ...settings }] });
    const methods = Object.keys(CompanyAdminServiceService).map((name) => [name, listed]);
    if (owner === 'integrations') server.implement(CompanyAdminServiceService, Object.fromEntries(methods) as never);
    const files = [`other/${owner}.ndjson`];
    const sent = send({ owner, files });
    if (sent === undefined) return;
    server.implement(ExportServiceService, {
      async *exportCompany({ complete }) {
        yield { file: '', lines: Buffer.alloc(0), complete: false, files: [...new Set([...files, ...sent])] };
        for (const file of sent.filter((each) => !complete.includes(each))) yield { file, lines: Buffer.from('{}\n'), complete: true, files: [] };
      },
    });
  };
  return await withServices(implement, 'company', 'export', id, '--to', folder);
}

test('an export names what a service lacks, and what a later release has added, and then has no manifest', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'truckroll-older-'));
  const id = randomUUID();
  const older = await exportInto(folder, id, ({ owner, files }) => (owner === 'billing' ? undefined : files));
  expect(older).toMatchObject({ code: 1, stderr: expect.stringContaining('billing is of a release that cannot export companies') });
  const short = await exportInto(folder, id, ({ owner, files }) => (owner === 'billing' ? [] : files));
  expect(short).toMatchObject({ code: 3, stderr: expect.stringContaining('billing did not send other/billing.ndjson') });
  expect(readdirSync(folder)).toEqual(['other', 'records', 'unfinished.json']);
  expect(await exportInto(folder, id, ({ files }) => files)).toMatchObject({ code: 0 });
  const later = await exportInto(folder, id, ({ owner, files }) => (owner === 'reporting' ? [...files, 'other/new.ndjson'] : files));
  expect(later).toMatchObject({ code: 1, stderr: expect.stringContaining('reporting has other/new.ndjson, which this export lacks') });
  rmSync(folder, { recursive: true });
});
