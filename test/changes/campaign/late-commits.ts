// Holds transactions open before their commit, after they have taken their place in the feed.
import type { Database } from '@truckroll/postgres';

const LATE = 0.1;
/** Maximum delay of a commit: long enough for others to begin and end. */
const MOST_SECONDS = 0.5;

/** Applies to every transaction that changes a record. It waits once, however many records it changes. */
export async function commitLate(database: Database): Promise<void> {
  await database.query({
    text: `create function public.commit_late() returns trigger language plpgsql as $$
      begin
        if current_setting('campaign.transaction', true) is distinct from pg_current_xact_id()::text then
          perform set_config('campaign.transaction', pg_current_xact_id()::text, true);
          if random() < ${LATE} then perform pg_sleep(random() * ${MOST_SECONDS}); end if;
        end if;
        return null;
      end $$`,
  });
  const { rows } = await database.query<{ relation: string }>({
    text: `select tgrelid::regclass::text as relation from pg_trigger where tgname = 'note_inserted'`,
  });
  for (const { relation } of rows) {
    await database.query({
      text: `create constraint trigger commit_late after insert or update or delete on ${relation} deferrable initially deferred
        for each row execute function public.commit_late()`,
    });
  }
}
