import { createSession } from '@truckroll/service-kit';
test('DATABASE_URL names a server that answers', async () => {
  const session = await createSession({ url: process.env['DATABASE_URL']! });
  const { rows } = await session.query({ text: 'select version()' });
  expect(rows[0]).toEqual({ version: expect.stringContaining('PostgreSQL 18') });
  await session.close();
});
