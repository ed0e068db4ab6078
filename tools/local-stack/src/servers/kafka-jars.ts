import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Problem, fullDisk } from '../problem.ts';
import { differenceFrom } from './pinned-files.ts';
import { works } from '../processes/run.ts';
import { since, type Say } from '../say.ts';

const KAFKA_VERSION = '4.1.1';
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

/** Kafka's artifact brings no log backend; slf4j-simple needs no configuration. */
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>truckroll</groupId><artifactId>kafka-jars</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${KAFKA_VERSION}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
`;

/** SHA-256 of every jar. For a new version, regenerate it with `sha256sum *.jar` in the folder of jars. */
const PINNED = join(import.meta.dirname, 'kafka-jars.sha256');

/**
 * Shared by all checkouts of this user, and filled by Maven at the first use. Throws Problem when a jar's checksum is not the
 * pinned one. Downloads nothing until `worthwhile` resolves, and nothing at all if it rejects.
 */
export async function kafkaJars(say: Say, worthwhile?: Promise<unknown>): Promise<string> {
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'truckroll');
  const jars = join(cache, `kafka-${KAFKA_VERSION}`);
  if (existsSync(jars)) return await verified(jars, `delete ${jars} and start again`);
  await worthwhile;
  await requireMaven();
  mkdirSync(cache, { recursive: true });
  const partial = mkdtempSync(`${jars}.partial-`);
  try {
    await download(partial, say);
    await verified(join(partial, 'jars'), 'check the mirror that Maven uses');
    try {
      renameSync(join(partial, 'jars'), jars);
    } catch (error) {
      // Another checkout finished first; its copy is as good.
      if (!existsSync(jars)) throw error;
    }
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return jars;
}

async function verified(jars: string, remedy: string): Promise<string> {
  const difference = await differenceFrom(PINNED, jars);
  if (difference === undefined) return jars;
  throw new Problem(
    `These are not the jars of Kafka ${KAFKA_VERSION} that this release was built with: in ${jars}, ${difference}. Nothing of it was run: ${remedy}, or name your own Kafka in KAFKA_BROKERS.`,
  );
}

async function requireMaven(): Promise<void> {
  if (await works('mvn', '--version')) return;
  const how = process.platform === 'darwin' ? 'brew install maven' : 'sudo apt-get install maven';
  throw new Problem(`Maven is missing, which downloads Kafka once: install it (${how}), or name your own Kafka in KAFKA_BROKERS.`);
}

async function download(folder: string, say: Say): Promise<void> {
  const startedAt = performance.now();
  say(`Kafka ${KAFKA_VERSION}: downloading about 43 MB with Maven, once for this machine …`);
  writeFileSync(join(folder, 'pom.xml'), POM);
  const args = ['-B', '-C', '-f', join(folder, 'pom.xml'), COPY, `-DoutputDirectory=${join(folder, 'jars')}`, '-DincludeScope=runtime'];
  const maven = spawn('mvn', args, { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, MAVEN_OPTS: '-Xmx256m' } });
  const exited = new Promise<number | null>((resolve) => maven.once('exit', resolve));
  const faults: string[] = [];
  for await (const line of createInterface({ input: maven.stdout })) {
    const jar = /Downloaded from \S+ \S*\/(\S+\.jar) \(([^)]+?)(?: at .*)?\)/.exec(line);
    if (jar) say(`  ${jar[1]} (${jar[2]})`);
    if (line.includes('[ERROR]')) faults.push(line.replace(/^.*\[ERROR\]\s*/, '').replace(/\.*$/, ''));
  }
  if ((await exited) !== 0) {
    throw (
      fullDisk(faults.join(' '), folder) ??
      new Problem(
        `Maven could not download Kafka ${KAFKA_VERSION} (${faults[0] ?? 'no reason given'}): check the network and Maven's settings, or name your own Kafka in KAFKA_BROKERS.`,
      )
    );
  }
  say(`Kafka ${KAFKA_VERSION}: downloaded in ${since(startedAt)}`);
}
