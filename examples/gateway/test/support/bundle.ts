import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { PROGRAM_OPTIONS } from '@scoregw/server-kit'
import { buildSync } from 'esbuild'

const EXAMPLE = join(import.meta.dirname, '../..')

/** As deep as the sources' rooms are, so that paths relative to them lead to the same places. */
const BUNDLES = join(EXAMPLE, 'dist/processes')

const ENTRIES = { main: 'src/main.ts', cli: 'src/cli.ts' } as const
export type Program = keyof typeof ENTRIES

/** What has a library of machine code beside it. */
const NATIVE = ['libsql']

let isBundled = false

/**
 * The path of an entry file with all of the workspace's sources in it: it starts in half the time that is needed when
 * each file is translated on its way in. Made once in each of the test's workers, and put in its place whole.
 */
export function bundled(entry: Program): string {
  if (!isBundled) bundle()
  return join(BUNDLES, `${entry}.mjs`)
}

function bundle(): void {
  buildSync({
    entryPoints: Object.entries(ENTRIES).map(([entry, file]) => ({ in: join(EXAMPLE, file), out: entry })),
    outdir: BUNDLES,
    outExtension: { '.js': `.${process.pid}.mjs` },
    ...PROGRAM_OPTIONS,
    external: NATIVE,
  })
  for (const entry of Object.keys(ENTRIES)) {
    renameSync(join(BUNDLES, `${entry}.${process.pid}.mjs`), join(BUNDLES, `${entry}.mjs`))
  }
  isBundled = true
}
