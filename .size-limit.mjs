// The budget of the core, minified and compressed, without its dependencies.
const budget = (name, limit, names, entry = 'index') => ({
  name,
  limit,
  path: `packages/quota/dist/${entry}.js`,
  ...(names === undefined ? {} : { import: names }),
  ignore: ['luxon', 'zod', 'prom-client'],
  modifyEsbuildConfig: (config) => ({ ...config, platform: 'node' }),
})

export default [
  budget('@scoregw/quota, everything', '20 kB'),
  budget('@scoregw/quota, createQuota', '16 kB', '{ createQuota }'),
  budget('@scoregw/quota/prometheus', '4 kB', undefined, 'prometheus'),
]
