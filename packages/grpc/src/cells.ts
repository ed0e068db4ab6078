// Cells: installations that share their gateways (docs/adr/0029).
import { owners, type Owner } from '@truckroll/contract/components';
import { env, setting, type Setting } from '@truckroll/process';

const NAME_FORM = 'lower-case letters, digits and hyphens, at most 32, such as west';

export const isCellName = (text: string): boolean => /^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/.test(text);

/** The name of the own cell; undefined if unset, where there is only one. */
export function cellSetting(name: string): Setting<string | undefined> {
  return setting<string | undefined>(name, NAME_FORM, [undefined], (text) => (isCellName(text) ? text : undefined));
}

/** Addresses of the services of other cells, by cell. */
type OtherCells = ReadonlyMap<string, Readonly<Record<Owner, string>>>;

/** All services of each other cell; undefined if unset. A list that lacks a service, or names one twice, is refused at start. */
export function otherCellsSetting(name: string): Setting<OtherCells | undefined> {
  const form = `a comma-separated list of cell/service=host:port with each of ${owners.join(', ')} once for each cell, such as west/billing=billing.west:50052`;
  return setting<OtherCells | undefined>(name, `${form}; a cell's name has ${NAME_FORM}`, [undefined], parseCells);
}

function parseCells(text: string): OtherCells | undefined {
  const { parse } = env.address('');
  const cells = new Map<string, Partial<Record<Owner, string>>>();
  for (const item of text.split(',')) {
    const [, cell = '', service = '', given = ''] = /^([^/=]*)\/([^/=]*)=(.*)$/.exec(item.trim()) ?? [];
    const owner = owners.find((name) => name === service);
    const address = parse(given);
    const addresses = cells.get(cell) ?? {};
    if (!isCellName(cell) || owner === undefined || address === undefined || owner in addresses) return undefined;
    cells.set(cell, { ...addresses, [owner]: address });
  }
  const isWhole = (addresses: Partial<Record<Owner, string>>): addresses is Record<Owner, string> => owners.every((owner) => owner in addresses);
  return [...cells.values()].every(isWhole) ? (cells as OtherCells) : undefined;
}
