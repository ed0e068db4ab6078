export { changeMigrations, type ZonedCompany, type OwnedKind, type ReadRecord } from './kinds.ts';
export { documentKind } from './documents.ts';
export { changeFeed } from './feed.ts';
export { CannotMove, arrive, chooseShift, endArrival, feedInPreparation, leave } from './move.ts';
