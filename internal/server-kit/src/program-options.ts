/** For packages in a bundle that ask for others as CommonJS does. */
const REQUIRE = `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`

/** How esbuild makes a program of the workspace's sources, in one file, which starts soonest. */
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
