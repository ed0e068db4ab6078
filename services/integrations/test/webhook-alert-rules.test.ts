import fc from 'fast-check';
import { alertDue, type Alert, type AlertState } from '../src/webhooks/health/alert-rules.ts';

const SECOND = 1_000_000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;
const state = (fields: Partial<AlertState> = {}): AlertState => ({
  enabled: true,
  disabled_reason: null,
  failing_since: null,
  last_success_at: null,
  alerted_at: null,
  alerted_for: null,
  ...fields,
});
const AT = 100 * DAY;

test.each<[string, Partial<AlertState>, Alert | undefined]>([
  ['well', {}, undefined],
  ['failing for less than an hour', { failing_since: AT - HOUR + 1 }, undefined],
  ['failing for an hour', { failing_since: AT - HOUR }, 'HOUR'],
  ['failing and switched off by a user', { failing_since: AT - DAY, enabled: false }, undefined],
  ['failing, which was mailed', { failing_since: AT - 3 * DAY, alerted_at: AT - 2 * DAY, alerted_for: 'HOUR' }, undefined],
  ['failing once more, as its owner enabled it in between', { failing_since: AT - HOUR, alerted_at: AT - 2 * DAY, alerted_for: 'HOUR' }, 'HOUR'],
  ['failing since the moment of its last alert', { failing_since: AT - 2 * DAY, alerted_at: AT - 2 * DAY, alerted_for: 'HOUR' }, undefined],
  ['failing again on the day of the last alert', { failing_since: AT - HOUR, alerted_at: AT - DAY + 1 }, undefined],
  ['failing again a day after the last alert', { failing_since: AT - HOUR, alerted_at: AT - DAY }, 'HOUR'],
  ['gone', { enabled: false, disabled_reason: 'GONE' }, 'GONE'],
  ['gone, which was mailed', { enabled: false, disabled_reason: 'GONE', alerted_at: AT - 2 * DAY, alerted_for: 'GONE' }, undefined],
  ['gone after failures, without an alert', { enabled: false, disabled_reason: 'GONE', failing_since: AT - HOUR, alerted_for: 'GONE' }, undefined],
  [
    'disabled after an alert about an hour',
    { enabled: false, disabled_reason: 'FAILING', failing_since: AT - 5 * DAY, alerted_at: AT - 4 * DAY, alerted_for: 'HOUR' },
    'FAILING',
  ],
  ['gone on the day of another alert', { enabled: false, disabled_reason: 'GONE', alerted_at: AT - HOUR, alerted_for: 'HOUR' }, undefined],
  ['accepting again', { last_success_at: AT, alerted_at: AT - HOUR, alerted_for: 'HOUR' }, 'RECOVERED'],
  ['enabled without a success since', { last_success_at: AT - HOUR, alerted_at: AT - HOUR, alerted_for: 'GONE' }, undefined],
  ['enabled without any success', { alerted_at: AT - HOUR, alerted_for: 'GONE' }, undefined],
  ['failing again since its success', { failing_since: AT - 1, last_success_at: AT - 2, alerted_at: AT - HOUR, alerted_for: 'HOUR' }, undefined],
  ['accepting without an alert before', { last_success_at: AT, alerted_at: AT - HOUR }, undefined],
  ['accepting again while it is disabled', { last_success_at: AT, alerted_for: 'GONE' }, 'RECOVERED'],
  ['accepting a test while a user has it switched off', { enabled: false, last_success_at: AT, alerted_at: AT - HOUR, alerted_for: 'HOUR' }, undefined],
])('an endpoint that is %s', (_, fields, expected) => {
  expect(alertDue(state(fields), AT)).toBe(expected);
});

test('sends at most one alert a day, and never two recoveries in a row, whatever happens', () => {
  const step = fc.record({ minutes: fc.integer({ min: 1, max: 3000 }), event: fc.constantFrom('fail', 'succeed', 'gone', 'enable', 'look') });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let at = AT;
      const current = state();
      const sent: [Alert, number][] = [];
      for (const { minutes, event } of steps) {
        at += minutes * 60 * SECOND;
        if (event === 'fail') current.failing_since ??= at;
        if (event === 'succeed') Object.assign(current, { failing_since: null, last_success_at: at });
        if (event === 'gone') Object.assign(current, { enabled: false, disabled_reason: 'GONE' });
        if (event === 'enable') Object.assign(current, { enabled: true, disabled_reason: null, failing_since: null });
        const alert = alertDue(current, at);
        if (alert === undefined) continue;
        sent.push([alert, at]);
        if (alert === 'RECOVERED') current.alerted_for = null;
        else Object.assign(current, { alerted_for: alert, alerted_at: at });
      }
      const alerts = sent.filter(([alert]) => alert !== 'RECOVERED');
      alerts.slice(1).forEach(([, time], index) => expect(time - alerts[index]![1]).toBeGreaterThanOrEqual(DAY));
      sent.forEach(([alert], index) => alert === 'RECOVERED' && expect(sent[index - 1]?.[0]).toMatch(/HOUR|GONE/));
    }),
  );
});
