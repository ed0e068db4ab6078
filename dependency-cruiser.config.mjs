// Allowed imports between folders; oxlint.config.ts has the rules between packages by name.
/** Packages from the lowest up: none imports one above it. */
const LAYERS = ['contract', 'telemetry', 'process', 'postgres|grpc', 'catch-up', 'outbox|mail|redis|change-feed', 'erasure|record-store'];
const CODE = '(?:packages|services|tools)/[^/]+|gateway|loadtest';

export default {
  forbidden: [
    {
      name: 'no-circles',
      comment: 'Files that import each other, types included, are one thing under two names, or lack a third that both need.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-folder-circles',
      comment: 'Folders that import each other have no order in which to read them: move the file that both need below both.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^((packages|services|tools)/[^/]+/src|gateway/src|loadtest/[^/]+)(/|$)' },
      to: { circular: true },
    },
    {
      name: 'no-relative-import-across-packages',
      comment: 'What a package does not export is its own. Tests may look inside.',
      severity: 'error',
      from: { path: `^(${CODE})/`, pathNot: '/test/' },
      to: { path: `^(${CODE}|test)/`, pathNot: '^$1/', dependencyTypes: ['local'] },
    },
    ...LAYERS.slice(0, -1).map((layer, level) => ({
      name: `nothing-above-${layer.replaceAll('|', '-')}`,
      comment: `${LAYERS.join(' ← ')}`,
      severity: 'error',
      from: { path: `^packages/(${layer})/`, pathNot: '/test/' },
      to: { path: `^packages/(${LAYERS.slice(level + 1).join('|')})/` },
    })),
    {
      name: 'library-internals-in-driver',
      comment: 'What a library does not publish is used in driver/ only, where each file names the fault that it repairs.',
      severity: 'error',
      from: { path: `^(${CODE})/`, pathNot: '/driver/|/test/|[.]test[.]ts$' },
      to: { path: 'node_modules/(kafkajs/src|@grpc/grpc-js/build/src/(?!index[.]))', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-tool-in-what-serves',
      comment: 'tools/ stands around the system: no service, no gateway and no package needs it.',
      severity: 'error',
      from: { path: '^(packages|services|gateway)/', pathNot: '/test/' },
      to: { path: '^tools/' },
    },
    {
      name: 'no-service-from-outside',
      comment: 'A service is imported only through what it exports for the command line and the benchmarks.',
      severity: 'error',
      from: { path: '^(packages|gateway)/', pathNot: '/test/' },
      to: { path: '^services/' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/gen/' },
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import'] },
  },
};
