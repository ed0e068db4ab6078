// Fault: grpc-js's FileWatcherCertificateProvider takes files that do not match each other, such as a key that was replaced before its
// certificate; a server then refuses connections until they match. Its timer keeps an idle process from ending.
// Upstream: no upstream issue known.
// Ends: with a version of grpc-js whose provider keeps the previous files in that case, and does not hold the process.
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { experimental } from '@grpc/grpc-js';

const REFRESH_MS = 60_000;

export type CertificateFiles = Omit<experimental.FileWatcherCertificateProviderConfig, 'refreshIntervalMs'>;

type Listener<Update> = (update: Update | null) => void;

/**
 * Certificates from files that are read again every minute, or every `refreshMs`. Files that are unusable together, such as a key that
 * was replaced before its certificate or a half-written file, are ignored: grpc-js goes on with the previous ones.
 */
export class CertificateWatcher extends experimental.FileWatcherCertificateProvider {
  readonly #ca = usableOnly<experimental.CaCertificateUpdate>(({ caCertificate: ca }) => ({ ca }));
  readonly #identity = usableOnly<experimental.IdentityCertificateUpdate>(({ certificate: cert, privateKey: key }) => ({ cert, key }));

  constructor(files: CertificateFiles, refreshMs = REFRESH_MS) {
    super({ ...files, refreshIntervalMs: refreshMs });
  }

  override addCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    super.addCaCertificateListener(this.#ca(listener));
    this.#release();
  }

  override removeCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    super.removeCaCertificateListener(this.#ca(listener));
  }

  override addIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    super.addIdentityCertificateListener(this.#identity(listener));
    this.#release();
  }

  override removeIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    super.removeIdentityCertificateListener(this.#identity(listener));
  }

  #release(): void {
    (this as unknown as { refreshTimer: NodeJS.Timeout | null }).refreshTimer?.unref();
  }
}

/** Makes listeners that pass on only updates that can be used: always the same one for a listener, so that it can be removed. */
function usableOnly<Update>(contextOf: (update: Update) => SecureContextOptions): (listener: Listener<Update>) => Listener<Update> {
  const made = new WeakMap<Listener<Update>, Listener<Update>>();
  return (listener) => {
    const usable = made.get(listener) ?? ((update: Update | null) => void (update !== null && isUsable(contextOf(update)) && listener(update)));
    made.set(listener, usable);
    return usable;
  };
}

function isUsable(context: SecureContextOptions): boolean {
  try {
    createSecureContext(context);
    return true;
  } catch {
    return false;
  }
}
