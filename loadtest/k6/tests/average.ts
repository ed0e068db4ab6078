import { optionsOf } from '../suite.ts';

export * from '../suite.ts';
export const options = optionsOf('average');
