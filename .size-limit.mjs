// The budgets, minified and gzipped, with all dependencies but the optional peers.
const budget = (name, limit, names, entry = 'index') => ({
  name,
  limit,
  gzip: true,
  path: `packages/quota/dist/${entry}.js`,
  ...(names === undefined ? {} : { import: names }),
  ignore: ['@opentelemetry/api', 'luxon', 'prom-client'],
  modifyEsbuildConfig: (config) => ({ ...config, platform: 'node' }),
})

export default [
  budget('@scoregw/quota, everything', '55.9 kB'),
  budget('@scoregw/quota, createQuota', '55.5 kB', '{ createQuota }'),
  budget('@scoregw/quota, QuotaError', '0.7 kB', '{ QuotaError }'),
  budget('@scoregw/quota/http', '34.4 kB', undefined, 'http'),
  budget('@scoregw/quota/calendar', '2.2 kB', undefined, 'calendar'),
  budget('@scoregw/quota/prometheus', '7.9 kB', undefined, 'prometheus'),
  budget('@scoregw/quota/top', '6.8 kB', undefined, 'top'),
  budget('@scoregw/quota/waiting', '12.4 kB', undefined, 'waiting'),
  budget('@scoregw/quota/otel', '8.3 kB', undefined, 'otel'),
  ...['index', 'mcp'].map((entry) => ({
    name: `@scoregw/quota-ai, ${entry}`,
    limit: '5 kB',
    gzip: true,
    path: `packages/quota-ai/dist/${entry}.js`,
    ignore: ['@scoregw/quota'],
  })),
  // With all that it imports: a TCP driver would not fit.
  {
    name: '@scoregw/quota-redis/rest',
    limit: '39.5 kB',
    gzip: true,
    path: 'packages/quota-redis/dist/rest.js',
    ignore: ['@scoregw/quota'],
    modifyEsbuildConfig: (config) => ({ ...config, platform: 'node' }),
  },
  {
    name: '@scoregw/quota-cloudflare, with SQLite',
    limit: '25.7 kB',
    gzip: true,
    path: 'packages/quota-cloudflare/dist/index.js',
    ignore: ['cloudflare:workers'],
    modifyEsbuildConfig: (config) => ({
      ...config,
      platform: 'node',
      external: [...(config.external ?? []), 'cloudflare:workers'],
    }),
  },
  { name: '@scoregw/quota-client', limit: '4 kB', gzip: true, path: 'packages/quota-client/dist/index.js' },
]
