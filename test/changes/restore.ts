import type { System } from '../support/system.ts';

export async function restoreWithout({ database }: System, tag: string): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query({ text: 'delete from scheduling.tags where id = $1', values: [tag] });
    await tx.query({ text: 'delete from scheduling.record_changes where id = $1', values: [tag] });
  });
  for (const schema of ['scheduling', 'billing', 'integrations']) {
    const next = `(last_value / 1000000000000 + 1) * 1000000000000`;
    await database.query({ text: `select setval('${schema}.outbox_id_seq', ${next}) from ${schema}.outbox_id_seq` });
  }
}
