// SQL for work that may store something after a service has begun to refuse it.

/** Time after which a call that was admitted before has begun its transaction. */
export const ADMITTED = `interval '6 seconds'`;

/** Whether a transaction of the service is left that began before this instant, a column or expression. */
export const anyOlder = (instant: string): string => `exists (
        select from pg_stat_activity a where a.datname = current_database() and a.usename = current_user and a.pid <> pg_backend_pid()
          and a.xact_start <= ${instant})`;
