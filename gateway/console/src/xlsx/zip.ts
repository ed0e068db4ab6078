// Zip archives of files that are compressed by the browser.

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

function crcOf(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = CRC[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/** Numbers of 2 or 4 bytes, lowest byte first. */
function numbers(...of: readonly (readonly [value: number, bytes: 2 | 4])[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(of.flatMap(([value, bytes]) => Array.from({ length: bytes }, (_, at) => (value >>> (8 * at)) & 0xff)));
}

async function deflated(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Version 2.0, names in UTF-8, deflated, at midnight of the first day that an archive can have. */
const METHOD = [
  [20, 2],
  [0x0800, 2],
  [8, 2],
  [0, 2],
  [0x21, 2],
] as const;

/** The archive of these texts by their paths (APPNOTE.TXT of PKWARE, 4.3). */
export async function zip(files: ReadonlyMap<string, string>, type: string): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let at = 0;
  for (const [path, text] of files) {
    const name = new TextEncoder().encode(path);
    const bytes = new TextEncoder().encode(text);
    const packed = await deflated(bytes);
    const sizes = [
      [crcOf(bytes), 4],
      [packed.length, 4],
      [bytes.length, 4],
      [name.length, 2],
      [0, 2],
    ] as const;
    const head = numbers([0x04034b50, 4], ...METHOD, ...sizes);
    directory.push(numbers([0x02014b50, 4], [20, 2], ...METHOD, ...sizes, [0, 2], [0, 2], [0, 2], [0, 4], [at, 4]), name);
    parts.push(head, name, packed);
    at += head.length + name.length + packed.length;
  }
  const length = directory.reduce((sum, part) => sum + part.length, 0);
  const end = numbers([0x06054b50, 4], [0, 2], [0, 2], [files.size, 2], [files.size, 2], [length, 4], [at, 4], [0, 2]);
  return new Blob([...parts, ...directory, end], { type });
}
