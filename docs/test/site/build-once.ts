import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../markdown.ts'
import { dist } from './built-site.ts'

/** Builds the site unless it is there; an existing one is taken as it is. */
export default function buildOnce(): void {
  if (existsSync(join(dist, 'index.html'))) return
  execFileSync(process.execPath, [join(root, 'scripts/pnpm.mjs'), 'run', 'docs:build'], { cwd: root, stdio: 'inherit' })
}
