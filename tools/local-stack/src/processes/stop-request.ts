/**
 * Resolves when this process should end: after a signal, or because its launcher is gone. Importing this module disables the signals'
 * default effect, so only programs import it. npm forwards a Ctrl-C that the terminal has already delivered, so further signals are
 * ignored.
 */
export const stopRequest: Promise<NodeJS.Signals> = new Promise((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve(signal));
  if (process.send) {
    process.once('disconnect', () => resolve('SIGTERM'));
    process.channel?.unref();
  }
});
