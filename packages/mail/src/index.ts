export * from './choose.ts';
export * from './provider.ts';
export * from './queue.ts';
export { queued } from './queued.ts';
export * from './sender.ts';
export * from './settings.ts';
