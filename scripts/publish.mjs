// Publishes every version that the registry doesn't have yet. pnpm packs, because it writes versions in place of `workspace:`;
// npm publishes, because it signs in as a trusted publisher and attests where a package was built. After the last one,
// `changeset tag` prints the tags from which the release's workflow makes its notes. `--dry-run` publishes and tags nothing.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { manifestOf, published, root, run } from './workspace.mjs'

const isDryRun = process.argv.includes('--dry-run')
const pnpm = ['--yes', manifestOf('.').packageManager]
const tarballs = mkdtempSync(join(tmpdir(), 'quota-tarballs-'))

/** The core first: the others need it. */
const inOrder = published.toSorted((one, other) => one.length - other.length)

try {
  for (const folder of inOrder) await publish(folder)
  if (!isDryRun) console.log(await succeed('changeset', ['tag']))
} finally {
  rmSync(tarballs, { recursive: true, force: true })
}

async function publish(folder) {
  const { name, version } = manifestOf(folder)
  if (!isDryRun && (await run('npm', ['view', `${name}@${version}`, 'version'])).output.trim() === version) return
  const out = mkdtempSync(join(tarballs, 'of-'))
  await succeed('npx', [...pnpm, 'pack', '--pack-destination', out], join(root, folder))
  const [tarball] = readdirSync(out)
  await succeed('npm', ['publish', join(out, tarball), '--ignore-scripts', ...(isDryRun ? ['--dry-run'] : [])])
  console.log(`${isDryRun ? 'would publish' : 'published'} ${name}@${version}`)
}

async function succeed(command, args, cwd) {
  const { code, output } = await run(command, args, cwd)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${output}`)
  return output
}
