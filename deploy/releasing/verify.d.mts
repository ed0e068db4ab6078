import type { KeyObject } from 'node:crypto';

export function verify(folder: string, publicKey: KeyObject): { version: string; files: number; artefacts: number };
