// The budget of the core, minified and compressed, without its two dependencies.
const budget = (name, limit, names) => ({
  name,
  limit,
  path: 'packages/quota/dist/index.js',
  ...(names === undefined ? {} : { import: names }),
  ignore: ['luxon', 'zod'],
  modifyEsbuildConfig: (config) => ({ ...config, platform: 'node' }),
})

export default [
  budget('@scoregw/quota, everything', '20 kB'),
  budget('@scoregw/quota, createQuota', '16 kB', '{ createQuota }'),
]
