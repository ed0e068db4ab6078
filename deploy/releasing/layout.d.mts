export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}
export const sha256: (bytes: Buffer) => string;
export function put(layout: string, mediaType: string, content: unknown): Descriptor;
export function putManifest(layout: string, manifest: object): Descriptor;
