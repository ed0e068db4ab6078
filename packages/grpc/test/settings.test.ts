import { readConfig } from '@truckroll/process';
import { acceptanceOf, callCredentialSetting, callerSettings, grpcSettings, newCallCredential } from '../src/index.ts';
import { callerCheckOf } from '../src/settings.ts';

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
});

describe('the settings of a component', () => {
  test('have defaults: plain connections that last five minutes, and no credential', () => {
    const { maxConnectionAgeMs, tlsClientCertificates, ...absent } = readConfig(grpcSettings, {});
    expect([maxConnectionAgeMs, tlsClientCertificates, Object.values(absent)]).toEqual([300_000, false, [undefined, undefined, undefined, undefined]]);
  });

  test('come from the environment', () => {
    const credential = newCallCredential('billing');
    const environment = {
      GRPC_MAX_CONNECTION_AGE: '90s',
      GRPC_TLS_CERT_FILE: 'cert.pem',
      GRPC_TLS_KEY_FILE: 'key.pem',
      GRPC_TLS_CA_FILE: 'ca.pem',
      GRPC_TLS_CLIENT_CERTIFICATES: 'true',
      CALL_CREDENTIAL: credential.text,
    };
    expect(readConfig(grpcSettings, environment)).toEqual({
      maxConnectionAgeMs: 90_000,
      tlsCertFile: 'cert.pem',
      tlsKeyFile: 'key.pem',
      tlsCaFile: 'ca.pem',
      tlsClientCertificates: true,
      callCredential: credential,
    });
  });

  test('never show a credential', () => {
    expect(() => readConfig(grpcSettings, { CALL_CREDENTIAL: 'gateway.hunter2' })).toThrow(/^(?!.*hunter2)CALL_CREDENTIAL is invalid: it must be one of/);
    expect(() => readConfig(callerSettings, { CALLER_CREDENTIALS: 'hunter2' })).toThrow(/^(?!.*hunter2)CALLER_CREDENTIALS is invalid/);
    expect(() => readConfig(callerSettings, {})).toThrow(/CALLER_CREDENTIALS is missing/);
  });

  test('without accepted callers accept none', () => {
    const accepted = readConfig(callerSettings, { CALLER_CREDENTIALS: acceptanceOf(newCallCredential('gateway')) }).callerCredentials;
    expect([callerCheckOf({}), callerCheckOf({ callerCredentials: accepted })]).toEqual([{ accepted: new Map() }, { accepted }]);
  });
});
