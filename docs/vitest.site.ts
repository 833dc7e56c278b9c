import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** Checks of the built site, in a browser: `npm run check:site`, after `npm run docs:build`. */
export default defineConfig({
  test: {
    root: join(import.meta.dirname),
    include: ['test/site/**/*.check.ts'],
    globalSetup: ['test/site/build-once.ts'],
    isolate: false,
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
  },
})
