// Processor time of an endpoint's content filter for an event: reading the event's JSON and checking as many conditions as a filter may have.
import { exampleRecord, publicEvents } from '@truckroll/contract';
import { subscribed } from '@truckroll/integrations/filter';
import { median } from '../measure/turns.ts';

const EVENTS = 20_000;
const ROUNDS = 5;
const TYPE = 'service_request.created';
const ID = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';

/** Twenty conditions that the example fulfils, so that all of them are checked. */
const FILTER = {
  ...Object.fromEntries(['id', 'account.id', 'location_id', 'business_unit.id', 'job_type.id', 'lead_source.id'].map((path) => [path, { $ne: ID }])),
  ...Object.fromEntries(['number', 'summary', 'contact_name', 'contact_phone', 'contact_email'].map((path) => [path, { $startsWith: '' }])),
  ...Object.fromEntries(['requested_starts_at', 'requested_ends_at', 'created_at', 'updated_at'].map((path) => [path, { $gte: '2020-01-01T00:00:00Z' }])),
  status: { $in: ['NEW', 'CONTACTED', 'BOOKED'] },
  channel: { $nin: ['WEB', 'SMS', 'CHAT'] },
  'account.name': { $exists: true },
  booked_at: { $exists: false },
  closed_reason: { $ne: 'Duplicate' },
};

/** Median over rounds, per event and endpoint. */
export function filterMicroseconds(): number {
  const shape = publicEvents.find(({ type }) => type === TYPE)!.body;
  const event = { type: TYPE, body: Buffer.from(JSON.stringify(exampleRecord(shape, 'snake'))) };
  const endpoint = { id: TYPE, event_types: [TYPE], filter: JSON.stringify(FILTER) };
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    let matched = 0;
    for (let i = 0; i < EVENTS; i++) matched += subscribed([endpoint], event).length;
    if (matched !== EVENTS) throw new Error('the example does not fulfil every condition, so not all were measured');
    const { user, system } = process.cpuUsage(before);
    return (user + system) / EVENTS;
  });
  return median(rounds);
}
