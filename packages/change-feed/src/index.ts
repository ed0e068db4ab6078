export { changeMigrations, type Company, type OwnedKind } from './kinds.ts';
export { documentKind } from './documents.ts';
export { changeFeed, type ChangeFeed } from './feed.ts';
