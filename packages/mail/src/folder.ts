import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Provider } from './provider.ts';

/** Writes each message to a file, for installations that must not send messages. */
export function folderProvider(folder: string, channel: string): Provider {
  return {
    async send({ id, address, subject, text }) {
      const path = join(folder, `${new Date().toISOString().replaceAll(':', '-')} ${channel.toLowerCase()} ${id}.txt`);
      try {
        await mkdir(folder, { recursive: true });
        await writeFile(path, `To: ${address}\nSubject: ${subject}\nMessage-Id: ${id}\n\n${text}\n`, { flag: 'wx' });
        return { outcome: 'SENT', detail: path };
      } catch (error) {
        return { outcome: 'FAILED', detail: String(error) };
      }
    },
  };
}
