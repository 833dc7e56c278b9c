import { readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'

const EXAMPLE = join(import.meta.dirname, '../..')

/** As deep as the sources' rooms are, so that paths relative to them lead to the same places. */
const BUNDLES = join(EXAMPLE, 'dist/processes')

let isBundled = false

/**
 * The path of an entry file with all of the workspace's sources in it: it starts in half the time that is needed when
 * each file is translated on its way in. Made once in each of the test's workers, and put in its place whole.
 */
export function bundled(entry: 'main' | 'cli'): string {
  if (!isBundled) bundle()
  return join(BUNDLES, `${entry}.mjs`)
}

function bundle(): void {
  buildSync({
    entryPoints: ['main', 'cli'].map((entry) => join(EXAMPLE, `src/${entry}.ts`)),
    outdir: BUNDLES,
    outExtension: { '.js': `.${process.pid}.mjs` },
    bundle: true,
    external: outsiders(),
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@scoregw/source'],
    loader: { '.lua': 'text' },
    logLevel: 'error',
  })
  for (const entry of ['main', 'cli']) {
    renameSync(join(BUNDLES, `${entry}.${process.pid}.mjs`), join(BUNDLES, `${entry}.mjs`))
  }
  isBundled = true
}

/** What the example depends on beyond this project's own packages: of those a build may lie about that is old. */
function outsiders(): string[] {
  const { dependencies } = JSON.parse(readFileSync(join(EXAMPLE, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  return Object.keys(dependencies).filter((name) => !name.startsWith('@scoregw/'))
}
