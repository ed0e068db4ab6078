import type { MigrationSet } from '@truckroll/postgres';

/** This package's tables, for a service's migrations: `[outboxTables, migrationsIn('billing', …)]`. Never change a released migration. */
export const outboxTables: MigrationSet = {
  name: 'outbox',
  migrations: [
    {
      name: '0001_outbox',
      sql: `
        -- What this service has to tell. A row lives from its transaction's commit until Kafka has acknowledged it.
        create table outbox (
          id bigint generated always as identity primary key,
          event_id uuid not null,
          topic text not null,
          key text not null,
          type text not null,
          company_id uuid not null,
          sequence bigint,
          trace text,
          payload bytea,
          created_at timestamptz not null default now()
        );
        comment on column outbox.payload is 'protobuf; null deletes the key from a compacted topic';
        -- Every row is deleted within moments, so the table is almost all dead rows: vacuum often, by count.
        alter table outbox set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
          autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 50000);

        -- Events that a consumer of this service has applied, kept as long as Kafka may deliver them again.
        create table inbox (
          consumer text not null,
          event_id uuid not null,
          received_at timestamptz not null default now(),
          primary key (consumer, event_id)
        );
        create index inbox_received on inbox using brin (received_at);

        -- The latest version that a consumer has applied of each subject of a compacted topic.
        create table inbox_version (
          consumer text not null,
          topic text not null,
          key text not null,
          version bigint not null,
          primary key (consumer, topic, key)
        );

        -- Events that could not be applied, set aside so that they block nothing.
        create table parked_event (
          id bigint generated always as identity primary key,
          consumer text not null,
          topic text not null,
          partition int not null,
          log_offset bigint not null,
          key text,
          headers jsonb not null,
          payload bytea,
          reason text not null,
          parked_at timestamptz not null default now(),
          unique (consumer, topic, partition, log_offset)
        );`,
    },
    {
      name: '0002_requests',
      sql: `
        -- The request that caused the event, which its message tells too; null for work of the service's own, and from the release before.
        alter table outbox add column request_id uuid;`,
    },
    {
      name: '0003_versions_expire',
      sql: `
        -- When the version was applied; of rows of before, when this was: src/retention.ts deletes old ones.
        alter table inbox_version add column applied_at timestamptz not null default now();`,
    },
    {
      name: '0004_erased_companies',
      sql: `
        -- Companies whose data is refused, and removed in the background (docs/adr/0024).
        create table erased_companies (
          company_hash bytea primary key, -- SHA-256 of the id as text
          id uuid, -- null once nothing is left
          begun_at timestamptz not null default now(),
          -- After begun_at was committed: every transaction that begins later refuses the company.
          closed_at timestamptz,
          ended_at timestamptz,
          removed jsonb not null default '{}' -- rows by table
        );`,
    },
    {
      name: '0005_erased_people',
      sql: `
        -- People whose records are shown as erased, for good, and whom a task looks for in everything that is stored (docs/adr/0024).
        create table erased_people (
          company_id uuid not null,
          kind text not null, -- of the record: its path
          id uuid not null,
          begun_at timestamptz not null default now(),
          -- Where the current round is: the number of the step, and after which row.
          step integer not null default 0,
          after text,
          round_at timestamptz not null default now(),
          -- Whether the round began when nothing could add to the rows any more.
          last boolean not null default false,
          changed_at timestamptz not null default now(),
          ended_at timestamptz,
          changed jsonb not null default '{}', -- rows by table
          primary key (company_id, kind, id)
        );
        create index erased_people_unfinished on erased_people (begun_at) where ended_at is null;`,
    },
    {
      name: '0006_erasures_are_asked_for',
      sql: `
        -- The time of the audit entry: one of later has the person erased again.
        alter table erased_people add column asked_at timestamptz not null default now();`,
    },
    {
      name: '0007_erasures_wait',
      sql: `
        -- The last table in which a step left rows to other work.
        alter table erased_people add column waits_in text;`,
    },
    {
      name: '0008_people_named',
      sql: `
        -- Ids of people that texts of the payload name without a reference, with a space between two.
        alter table outbox add column people text;`,
    },
    {
      name: '0009_frozen_companies',
      sql: `
        -- Companies whose rows may not be changed, and those that are about to be frozen (docs/adr/0026).
        create table frozen_companies (
          company_id uuid primary key,
          begun_at timestamptz not null default now(),
          -- Offsets that the consumers of this service pass before it refuses changes.
          passes jsonb,
          -- From then on its triggers refuse changes.
          closed_at timestamptz
        );

        -- Triggers call it that are made for one company. Earlier releases answer 55P03 with 503 and Retry-After.
        create function refuse_frozen() returns trigger language plpgsql as $$
        begin
          if exists (select from frozen_companies f where f.company_id = tg_argv[0]::uuid and f.closed_at is not null) then
            raise exception 'the company % is frozen', tg_argv[0] using errcode = '55P03', constraint = 'frozen';
          end if;
          return null;
        end $$;`,
    },
    {
      name: '0010_fences_are_shared',
      sql: `
        -- Triggers may be made before the company is frozen. Its writers then share a lock, which closing takes alone: it waits for those that have
        -- found the company open, and later ones find it closed.
        create or replace function refuse_frozen() returns trigger language plpgsql as $$
        begin
          perform pg_advisory_xact_lock_shared(hashtextextended('fence in ' || current_schema() || ' of ' || tg_argv[0], 0));
          if exists (select from frozen_companies f where f.company_id = tg_argv[0]::uuid and f.closed_at is not null) then
            raise exception 'the company % is frozen', tg_argv[0] using errcode = '55P03', constraint = 'frozen';
          end if;
          return null;
        end $$;`,
    },
  ],
};
