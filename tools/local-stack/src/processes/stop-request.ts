/**
 * Resolves when this process is asked to end: by a signal, or because the launcher that started it is gone. Importing
 * this takes the signals' default effect away, so only programs do. npm passes Ctrl-C on to a process that the terminal
 * has already told, so what follows the first signal is not a second wish.
 */
export const stopRequest: Promise<NodeJS.Signals> = new Promise((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve(signal));
  if (process.send) {
    process.once('disconnect', () => resolve('SIGTERM'));
    process.channel?.unref();
  }
});
