import { InvalidArgumentError } from 'commander';

export function positiveInteger(text: string): number {
  const value = Number(text);
  if (!/^\d{1,10}$/.test(text) || value < 1 || value > 0x7fffffff) throw new InvalidArgumentError('Give a whole number from 1 on.');
  return value;
}
