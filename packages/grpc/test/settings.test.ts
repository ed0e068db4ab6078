import { readConfig } from '@truckroll/process';
import { acceptanceOf, callCredentialSetting, callerSettings, newCallCredential } from '../src/index.ts';

describe('credentials of components', () => {
  const gateway = newCallCredential('gateway');
  const own = (text: string) => readConfig({ own: callCredentialSetting('CALL_CREDENTIAL', 'gateway') }, { CALL_CREDENTIAL: text }).own;
  const accepted = (text: string) => readConfig({ accepted: callerSettings.callerCredentials }, { CALLER_CREDENTIALS: text }).accepted;

  test('are parsed with their caller', () => {
    expect(own(gateway.text)).toEqual(gateway);
    expect(
      [...accepted(`${acceptanceOf(gateway)},${acceptanceOf(newCallCredential('gateway'))},${acceptanceOf(newCallCredential('operator'))}`)].map(
        ([name, hashes]) => [name, hashes.length],
      ),
    ).toEqual([
      ['gateway', 2],
      ['operator', 1],
    ]);
  });

  test.each([newCallCredential('operator').text, 'gateway.short', `gateway.${'0'.repeat(64)}`, `stranger.${'ab'.repeat(20)}`, 'x'.repeat(64)])(
    'refuse %s for the gateway',
    (text) => {
      expect(() => own(text)).toThrow(/^CALL_CREDENTIAL is invalid: it must be gateway, a dot/);
    },
  );

  test.each([gateway.text, 'gateway:abc', `root:${'ab'.repeat(32)}`])('refuse to accept %s', (text) => {
    expect(() => accepted(text)).toThrow(/^CALLER_CREDENTIALS is invalid/);
  });

  test('of callers added by a later release are skipped', () => {
    expect([...accepted(`${acceptanceOf(gateway)},auditor:${'ab'.repeat(32)}`).keys()]).toEqual(['gateway']);
  });
});
