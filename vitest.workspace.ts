import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const root = import.meta.dirname
const conditions = ['@scoregw/source']

/** Gives `.lua` files as text, as the packed build does; and a file with the fault that `npm run mutants` puts into it. */
const sources = {
  name: 'sources',
  enforce: 'pre' as const,
  load(id: string) {
    const { file, line, instead } = JSON.parse(process.env.QUOTA_TEST_FAULT || '{}') as Record<
      string,
      string | undefined
    >
    const isFaulty = file !== undefined && id === join(root, file)
    if (!isFaulty && !id.endsWith('.lua')) return null
    const text = readFileSync(id, 'utf8')
    const loaded = isFaulty ? text.split(line ?? '').join(instead) : text
    return id.endsWith('.lua') ? `export default ${JSON.stringify(loaded)}` : loaded
  },
}

/** `packages/*`, `examples/*` and `internal/*`, plus `bench`, `docs` and `scripts`: every folder that has tests. */
const folders = [
  ...['packages', 'examples', 'internal'].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => `${group}/${name}`),
  ),
  'bench',
  'docs',
  'scripts',
].filter((folder) => existsSync(join(root, folder, 'test')))

/** One project for all of them: what many of them import is translated once, and read once by each worker. */
export default defineConfig({
  plugins: [sources],
  // Where a package names its main file without an extension, Node takes `.js`: so it is there once, whoever imports it.
  resolve: { conditions, extensions: ['.js', '.mjs', '.ts', '.json'] },
  ssr: { resolve: { conditions } },
  test: {
    root,
    include: folders.map((folder) => `${folder}/test/**/*.test.ts`),
    setupFiles: ['internal/quota-histories/src/test-seed.ts', 'internal/server-kit/src/no-leaks.ts'],
    isolate: false,
    // On two cores, two go on while the others wait for servers and processes; each imports everything once.
    maxWorkers: 4,
    // For open files that are closed when their object is collected.
    execArgv: ['--expose-gc'],
    // For machines that are busy with other work: most tests take milliseconds.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // What is waited for comes, when others leave it the processor.
    expect: { poll: { timeout: 30_000 } },
    coverage: {
      provider: 'v8',
      include: ['packages/*/src/**/*.ts'],
      reporter: ['text', 'html'],
    },
  },
})
