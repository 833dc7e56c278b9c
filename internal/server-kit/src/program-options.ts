/** For bundled packages that require others as CommonJS. */
const REQUIRE = `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`

/** esbuild's options for a program from the workspace's sources, in a single file, which starts fastest. */
export const PROGRAM_OPTIONS = {
  bundle: true,
  banner: { js: REQUIRE },
  platform: 'node',
  format: 'esm',
  target: 'node20',
  conditions: ['@scoregw/source'] as string[],
  loader: { '.lua': 'text' },
  logLevel: 'error',
} as const
