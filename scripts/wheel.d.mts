/** `folder` is the project's. Returns the wheel's name and bytes, always the same for the same files. */
export function makeWheel(folder: string, version: string): { file: string; bytes: Buffer };
