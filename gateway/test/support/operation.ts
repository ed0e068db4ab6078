import { operations, type Operation } from '@truckroll/contract';

export function operation(name: string): Operation {
  const found = operations.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`the contract has no operation ${name}`);
  return found;
}
