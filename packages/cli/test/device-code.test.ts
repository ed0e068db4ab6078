import { signInByCode } from '../src/device-code.ts';
import { startIssuer } from './issuer.ts';

const token = { access_token: 'a-token', token_type: 'Bearer' };

async function signIn(...issuer: Parameters<typeof startIssuer>): Promise<string> {
  const { url, close } = await startIssuer(...issuer);
  const { signal } = new AbortController();
  return await signInByCode({ baseUrl: url, clientId: 'cli', scope: 'openid', signal, say: () => undefined }).finally(close);
}

test('goes on asking after a question without an answer, and after one that failed', async () => {
  const answers: ([number, object] | undefined)[] = [undefined, [503, {}], [400, { error: 'authorization_pending' }], [200, token]];
  expect(await signIn(() => answers.shift())).toBe('a-token');
  expect(answers).toEqual([]);
});

test('ends with the code, and when the user refuses', async () => {
  await expect(signIn(() => [503, {}], 0.1)).rejects.toThrow('The code WDJB-MJHT has expired: log in again');
  await expect(signIn(() => [400, { error: 'access_denied' }])).rejects.toThrow('did not sign you in: access_denied');
});

test('says that the issuer has no address', async () => {
  await expect(signIn(() => undefined, 1, 'nowhere')).rejects.toThrow('names the issuer nowhere, which is no address');
});
