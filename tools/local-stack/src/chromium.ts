import { fromDebian } from './debian-package.ts';
import { run } from './processes/run.ts';
import type { Say } from './say.ts';

/** Path of a Chromium for browser tests. Installs Debian's when none is found and this process may use apt-get. */
export async function chromium(say: Say): Promise<string> {
  const given = process.env['PUPPETEER_EXECUTABLE_PATH'];
  if (given) return given;
  const how = process.platform === 'darwin' ? 'brew install --cask chromium' : 'sudo apt-get install chromium-headless-shell';
  const command = await fromDebian(
    {
      title: 'Chromium',
      // Without windows it takes a sixth less CPU time.
      package: 'chromium-headless-shell',
      commands: ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'],
      otherwise: `install it (${how}), or name your own in PUPPETEER_EXECUTABLE_PATH`,
    },
    say,
  );
  // Puppeteer does not search PATH.
  return (await run('sh', ['-c', 'command -v "$1"', 'sh', command])).stdout.trim();
}
