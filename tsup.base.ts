import { defineConfig } from 'tsup'

/** How every published package is built: ESM, CommonJS and declarations, from one entry. */
export default defineConfig({
  entry: ['src/index.ts'],
  format: ['esm', 'cjs'],
  target: 'node20.19',
  platform: 'node',
  clean: true,
  loader: { '.lua': 'text' },
  // tsup sets `baseUrl` for the declaration build, which TypeScript 6 reports as deprecated.
  // Other packages are read as they are built, not checked once more from their sources.
  dts: { compilerOptions: { ignoreDeprecations: '6.0', incremental: false, customConditions: [] } },
})
