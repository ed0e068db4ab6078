export { CatchUp } from './catch-up.ts';
export { catchUpMigrations, restartRuns } from './runs.ts';
export type { Runner } from './runner.ts';
export type { TaskBatch, Cursor, Task } from './task.ts';
