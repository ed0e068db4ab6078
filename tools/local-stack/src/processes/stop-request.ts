/**
 * Resolves after a signal, or because the launcher is gone. Only programs import this: it disables the signals' default effect. npm
 * forwards a Ctrl-C that the terminal has already delivered, so further signals are ignored.
 */
export const stopRequest: Promise<NodeJS.Signals> = new Promise((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve(signal));
  if (process.send) {
    process.once('disconnect', () => resolve('SIGTERM'));
    process.channel?.unref();
  }
});
