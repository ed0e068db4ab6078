-- What became of e-mails to users. Each is sent at most once: an attempt is stored before the server hears of it, and one
-- that began and has no known end becomes UNKNOWN and stays so.
alter table pending_mails rename to mails;
alter table mails
  -- Names the message to the mail server; the same for the same e-mail.
  add column message_id uuid not null default gen_random_uuid(),
  add column status text not null default 'QUEUED' check (status in ('QUEUED', 'ATTEMPTING', 'SENT', 'FAILED', 'SUPPRESSED', 'UNKNOWN')),
  add column attempts integer not null default 0,
  add column due_at timestamptz not null default now(),
  add column attempted_at timestamptz,
  -- When an attempt that has told no end counts as lost.
  add column attempt_ends_at timestamptz,
  add column finished_at timestamptz,
  -- What the server said, for the operator.
  add column detail text,
  drop column sent_at;
create index mails_queued on mails (due_at) where status = 'QUEUED';
create index mails_attempting on mails (attempt_ends_at) where status = 'ATTEMPTING';
