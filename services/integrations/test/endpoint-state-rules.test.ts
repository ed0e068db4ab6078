import { WebhookState } from '@truckroll/contract/gen/integrations/v1/webhooks';
import { endpointState, wantedState } from '../src/webhooks/endpoints/state.ts';

test.each([
  [true, false, 'ENABLED'],
  [true, true, 'PAUSED'],
  [false, false, 'DISABLED'],
  [false, true, 'DISABLED'],
] as const)('an endpoint stored with enabled %s and paused %s is %s', (enabled, paused, state) => {
  expect(endpointState({ enabled, paused })).toBe(state);
});

test.each([
  ['state ENABLED', { state: WebhookState.ENABLED }, 'ENABLED'],
  ['state PAUSED', { state: WebhookState.PAUSED }, 'PAUSED'],
  ['state DISABLED', { state: WebhookState.DISABLED }, 'DISABLED'],
  ['a state over enabled', { state: WebhookState.PAUSED, enabled: true }, 'PAUSED'],
  ['no state', { state: WebhookState.UNSPECIFIED }, null],
  ['enabled true', { enabled: true }, 'ENABLED'],
  ['enabled false', { enabled: false }, 'DISABLED'],
  ['neither', {}, null],
  ['null for both', { enabled: null, state: null }, null],
] as const)('reads the wanted state from %s', (_, wanted, state) => {
  expect(wantedState(wanted)).toBe(state);
});

test('enabled false leaves a paused endpoint paused and disables an enabled one; enabled true resumes it', () => {
  expect(wantedState({ enabled: false }, 'PAUSED')).toBeNull();
  expect(wantedState({ enabled: false }, 'ENABLED')).toBe('DISABLED');
  expect(wantedState({ enabled: true }, 'PAUSED')).toBe('ENABLED');
});
