// Allowed imports between folders; eslint.config.mjs has the rules between packages by name.
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
      name: 'no-relative-import-across-packages',
      comment: 'What a package does not export is its own. Tests may look inside.',
      severity: 'error',
      from: { path: `^(${CODE})/`, pathNot: '/test/' },
      to: { path: `^(${CODE}|test)/`, pathNot: '^$1/', dependencyTypes: ['local'] },
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
      comment: 'Nobody imports a service but by what it exports for the command line and the benchmarks.',
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
