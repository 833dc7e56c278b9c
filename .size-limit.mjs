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
  budget('@scoregw/quota, everything', '45.4 kB'),
  budget('@scoregw/quota, createQuota and defaultPolicy', '41.7 kB', '{ createQuota, defaultPolicy }'),
  budget('@scoregw/quota, simpleQuota', '42 kB', '{ simpleQuota }'),
  budget('@scoregw/quota, QuotaError', '1.5 kB', '{ QuotaError }'),
  budget('@scoregw/quota/options', '6.4 kB', undefined, 'options'),
  budget('@scoregw/quota/http', '19.9 kB', undefined, 'http'),
  budget('@scoregw/quota/calendar', '2.5 kB', undefined, 'calendar'),
  budget('@scoregw/quota/prometheus', '7.4 kB', undefined, 'prometheus'),
  budget('@scoregw/quota/top', '7.5 kB', undefined, 'top'),
  budget('@scoregw/quota/otel', '7.8 kB', undefined, 'otel'),
]
