import { eventTypes } from '../src/webhooks/events/event-types.ts';

test('describes each type that endpoints can subscribe to', () => {
  expect(eventTypes.map(({ type, description }) => [type, description])).toEqual([
    ['service_request.created', 'A service request was recorded.'],
    ['service_request.status_changed', expect.stringContaining('status of a service request changed')],
    ['service_request.booked', expect.stringContaining('booked for the first time')],
    ['interaction.completed', 'An interaction with a customer was completed.'],
  ]);
});

test.each(eventTypes.map(({ type, example }) => [type, JSON.parse(example) as object]))('shows the body of %s in its example', (type, example) => {
  expect(Object.keys(example)).toEqual(['id', 'type', 'timestamp', 'company_id', 'sequence', 'data']);
  expect(example).toMatchObject({ type, sequence: expect.any(Number), data: { id: expect.any(String) } });
});
