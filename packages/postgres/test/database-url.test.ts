import { readConfig } from '@truckroll/process';
import { databaseSettings, parseDatabaseUrl } from '../src/index.ts';

describe('a PostgreSQL URL', () => {
  test('with several hosts becomes one URL per host, with the same user, database and parameters', () => {
    const { urls, readWrite } = parseDatabaseUrl('postgres://user:p%40ss@a:5432,b,[::1]:6432/db?sslmode=require&target_session_attrs=read-write')!;
    const rest = '/db?sslmode=require&target_session_attrs=read-write';
    expect(urls).toEqual(['a:5432', 'b', '[::1]:6432'].map((host) => `postgres://user:p%40ss@${host}${rest}`));
    expect(readWrite).toBe(true);
  });

  test.each(['postgresql://a/db', 'postgres://[2001:db8::1]:5432/db', 'postgres:///db', 'postgres://user@%2Frun%2Fpostgresql/db'])(
    'with one host, the default one or a socket is unchanged: %s',
    (url) => {
      expect(parseDatabaseUrl(url)).toEqual({ urls: [url], readWrite: false });
    },
  );

  test.each([
    ['several hosts of which any would do', 'postgres://user:hunter2@a,b/db'],
    ['a kind of server that no service can use', 'postgres://user:hunter2@a,b/db?target_session_attrs=standby'],
    ['no port', 'postgres://user:hunter2@a:port/db'],
    ['no port of one host', 'postgres://user:hunter2@a,b:port/db?target_session_attrs=read-write'],
    ['port 0', 'postgres://user:hunter2@a:0/db'],
    ['an IPv6 address without brackets', 'postgres://user:hunter2@2001:db8::1/db'],
    ['a host that is no name', 'postgres://user:hunter2@10.0.0.256/db'],
    ['nothing between two commas', 'postgres://user:hunter2@a,,b/db?target_session_attrs=read-write'],
    ['a user but no host', 'postgres://user:hunter2@/db'],
    ['a socket among several hosts', 'postgres://user:hunter2@%2Frun,b/db?target_session_attrs=read-write'],
    ['text before it', 'url=postgres://user:hunter2@a/db'],
    ['a line after it', 'postgres://user:hunter2@a/db\nmore'],
    ['another protocol', 'mysql://user:hunter2@a/db'],
  ])('is refused with %s, without its password in the message', (_, DATABASE_URL) => {
    const read = () => readConfig(databaseSettings, { DATABASE_URL });
    expect(read).toThrow(/^DATABASE_URL is invalid: it must be postgres:/);
    expect(read).not.toThrow(/hunter2/);
  });
});
