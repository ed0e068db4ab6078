export * from './api-key.ts';
export * from './errors.ts';
export * from './shape.ts';
export * from './operation.ts';
export * from './time.ts';
export * from './scalar.ts';
export * from './json-reader.ts';
export * from './json-writer.ts';
