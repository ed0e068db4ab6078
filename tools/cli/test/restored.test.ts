import { tmpdir } from 'node:os';
import { topics } from '@truckroll/contract';
import { SERVICES } from '../src/restored/renew.ts';
import { truckroll } from './system.ts';

const names = (of: readonly { readonly name: string }[]): string[] => of.map(({ name }) => name).toSorted();
const states = Object.values(topics).filter(({ keeps }) => keeps === 'latest');

test('exactly one owner publishes every state topic again after a restore', () => {
  expect(names(SERVICES.flatMap((service) => service.states.map(({ topic }) => topic)))).toEqual(names(states));
});

test('every service that reads a state topic lists the read models and groups to move after a restore', () => {
  for (const { schema, readModels, groups } of SERVICES) {
    const read = groups.flatMap((group) => group.topics).filter((topic) => states.includes(topic));
    expect({ schema, topics: names(readModels.map(({ topic }) => topic)) }).toEqual({ schema, topics: names(read) });
  }
});

test('asks to which moment a server went back where services have separate servers', async () => {
  const env = { DATABASE_URL: 'postgres://one/truckroll', BILLING_DATABASE_URL: 'postgres://two/truckroll', KAFKA_BROKERS: '127.0.0.1:1' };
  expect(await truckroll(['restored'], env, tmpdir())).toMatchObject({ code: 2, stderr: expect.stringContaining('give --restored-to') as string });
});
