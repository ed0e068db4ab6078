// Fault: grpc-js's FileWatcherCertificateProvider takes files that do not match each other, such as a key that was replaced before its
// certificate; a server then refuses connections until they match.
// Upstream: no upstream issue known.
// Ends: with a version of grpc-js whose provider keeps the previous files in that case.
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { experimental } from '@grpc/grpc-js';

const REFRESH_MS = 60_000;

export interface CertificateFiles {
  readonly certificateFile?: string | undefined;
  readonly privateKeyFile?: string | undefined;
  readonly caCertificateFile?: string | undefined;
}

/**
 * Certificates from files that are read again every minute, or every `refreshMs`. Files that are unusable together, such as a key that
 * was replaced before its certificate or a half-written file, are ignored and the previous ones kept.
 */
export class CertificateWatcher implements experimental.CertificateProvider {
  readonly #files: CertificateFiles;
  readonly #refreshMs: number;
  readonly #caListeners = new Set<experimental.CaCertificateUpdateListener>();
  readonly #identityListeners = new Set<experimental.IdentityCertificateUpdateListener>();
  #latest: Certificates | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(files: CertificateFiles, refreshMs = REFRESH_MS) {
    this.#files = files;
    this.#refreshMs = refreshMs;
  }

  addCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#caListeners.add(listener);
    this.#watch(() => listener(caOf(this.#latest)));
  }

  removeCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#caListeners.delete(listener);
    this.#rest();
  }

  addIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#identityListeners.add(listener);
    this.#watch(() => listener(identityOf(this.#latest)));
  }

  removeIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#identityListeners.delete(listener);
    this.#rest();
  }

  #watch(notify: () => void): void {
    if (this.#latest !== undefined) process.nextTick(notify);
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => void this.#look(), this.#refreshMs).unref();
    void this.#look();
  }

  #rest(): void {
    if (this.#caListeners.size + this.#identityListeners.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    const found = await read(this.#files).catch(() => undefined);
    if (found === undefined || (this.#latest !== undefined && alike(found, this.#latest))) return;
    this.#latest = found;
    for (const listener of this.#identityListeners) listener(identityOf(found));
    for (const listener of this.#caListeners) listener(caOf(found));
  }
}

type Certificates = Partial<Record<'cert' | 'key' | 'ca', Buffer>>;

/** Rejects if the files cannot be used together. */
async function read({ certificateFile, privateKeyFile, caCertificateFile }: CertificateFiles): Promise<Certificates> {
  const named = Object.entries({ cert: certificateFile, key: privateKeyFile, ca: caCertificateFile });
  const found = await Promise.all(named.flatMap(([name, file]) => (file === undefined ? [] : [readFile(file).then((bytes) => [name, bytes] as const)])));
  const certificates: Certificates = Object.fromEntries(found);
  createSecureContext(certificates);
  return certificates;
}

const alike = (a: Certificates, b: Certificates): boolean =>
  (['cert', 'key', 'ca'] as const).every((name) => a[name] === b[name] || (a[name] && b[name]?.equals(a[name])));

const caOf = (latest: Certificates | undefined) => (latest?.ca === undefined ? null : { caCertificate: latest.ca });

const identityOf = (latest: Certificates | undefined) =>
  latest?.cert === undefined || latest.key === undefined ? null : { certificate: latest.cert, privateKey: latest.key };
