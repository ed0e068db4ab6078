import { topics, watermarkSources, type TopicDefinition } from '../src/topics.ts';

const listed = Object.entries(topics) as [string, TopicDefinition][];
const namesOf = (chosen: (topic: TopicDefinition) => boolean): string[] => listed.flatMap(([, topic]) => (chosen(topic) ? [topic.name] : []));

test('keeps the latest message of each key forever in 6 partitions, for records that others keep read models of', () => {
  expect(namesOf(({ keeps, partitions }) => keeps === 'latest' && partitions === 6)).toEqual([
    'truckroll.integrations.companies',
    'truckroll.scheduling.names',
    'truckroll.scheduling.jobs',
    'truckroll.scheduling.assignments',
    'truckroll.billing.invoices',
    'truckroll.billing.payments',
    'truckroll.billing.refunds',
  ]);
});

test('keeps events and entries of the audit trail for 14 days in 12 partitions', () => {
  expect(namesOf(({ keeps, partitions }) => typeof keeps !== 'string' && keeps.days === 14 && partitions === 12)).toEqual([
    'truckroll.scheduling.events',
    'truckroll.scheduling.service-requests',
    'truckroll.scheduling.audit',
    'truckroll.billing.audit',
    'truckroll.reporting.audit',
  ]);
});

test('keeps watermarks for a day, in the order in which they were published', () => {
  expect(topics.watermarks).toEqual({ name: 'truckroll.watermarks', partitions: 1, keeps: { days: 1 } });
});

test('has no other topics and none twice', () => {
  expect(new Set(namesOf(() => true)).size).toBe(14);
  expect(listed).toHaveLength(14);
});

test('expects watermarks of the owners of records that reports are made of', () => {
  expect(watermarkSources).toEqual(['/truckroll/integrations', '/truckroll/scheduling', '/truckroll/billing']);
});

test('keeps all deletions of companies, in one partition', () => {
  expect(namesOf(({ keeps }) => keeps === 'all')).toEqual(['truckroll.integrations.erasures']);
});
