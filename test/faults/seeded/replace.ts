import { registerHooks } from 'node:module';

const HERE = new URL('.', import.meta.url).href;

/** Redirects every import of a module to another module. Only files in the replacement's folder can still import the original. */
export function replaceModule(original: URL, replacement: URL): void {
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      if (resolved.url !== original.href || context.parentURL?.startsWith(HERE)) return resolved;
      return { ...resolved, url: replacement.href };
    },
  });
}
