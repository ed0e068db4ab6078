import type { KeyObject } from 'node:crypto';
import type { Descriptor } from './layout.mjs';

export const SUMS: string;
export const SUMS_SIGNATURE: string;
export function filesOf(folder: string): string[];
/** Lists the sums of all files, and signs the list. */
export function seal(folder: string, key: KeyObject): void;
export interface Parts {
  version: string;
  createdAt: string;
  images: { component: string; manifests: (Descriptor & { platform: object })[]; sbom: object }[];
  chart: { file: string; facts: { name: string }; sbom: object };
  clients: Record<'client' | 'cli' | 'client-python', { file: string; sbom: object }>;
  changelog: string;
  provenance: object;
  key: KeyObject;
}
export function assemble(folder: string, parts: Parts): void;
