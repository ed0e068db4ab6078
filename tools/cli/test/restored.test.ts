import { topics } from '@truckroll/contract';
import { SERVICES } from '../src/restored/renew.ts';

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
