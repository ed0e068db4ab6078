// What is said of the WAL that PostgreSQL keeps for moves (docs/how-to/runbook.md, MoveSlotLeft).

export const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6).toLocaleString('en')} MB`;

export const dropStatement = (slot: string): string => `\`select pg_drop_replication_slot('${slot}')\``;
