// Checks what users will install: builds every published package, packs it, and asks publint and
// are-the-types-wrong about the tarball, and npm whether it would publish it; then loads the unpacked packages with both
// `import` and `require`, and in everything else that loads packages.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { checkImports } from './import-matrix.mjs'
import { checkNext } from './next-build.mjs'
import { manifestOf, published, root, run } from './workspace.mjs'

const temporary = mkdtempSync(join(tmpdir(), 'quota-packed-'))
const modules = join(temporary, 'node_modules')
let failed = false

try {
  if (!process.argv.includes('--no-build')) await step('build', 'npm', ['run', 'build'])
  const tarballs = join(temporary, 'tarballs')
  const pnpm = ['--yes', manifestOf('.').packageManager, '--recursive', '--filter', './packages/*']
  await step('pack', 'npx', [...pnpm, 'pack', '--pack-destination', tarballs])
  await inPairs(published, (folder) => checkTarball(folder, tarballs))
  for (const folder of published) await checkMain(folder)
  for (const folder of published) await checkOtherEntries(folder)
  await checkErrors()
  await checkImports(temporary, step)
  if (process.env.NEXT_TESTS === 'on') await checkNext(modules, step)
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
process.exitCode = failed ? 1 : 0

/** Two at a time, which is as many as most machines have cores for. */
async function inPairs(folders, check) {
  const queue = [...folders]
  const worker = async () => {
    for (let folder = queue.shift(); folder !== undefined; folder = queue.shift()) await check(folder)
  }
  await Promise.all([worker(), worker()])
}

async function checkTarball(folder, tarballs) {
  const {
    name,
    version,
    exports,
    dependencies = {},
    peerDependencies = {},
    peerDependenciesMeta = {},
  } = manifestOf(folder)
  const tarball = join(tarballs, `${name.slice(1).replace('/', '-')}-${version}.tgz`)
  await step(`${name}: publint`, 'publint', [tarball, '--strict'])
  const profile = isForWorkers(exports) ? ['--profile', 'esm-only'] : []
  if (exports['.'] !== undefined)
    await step(`${name}: are the types wrong`, 'attw', [tarball, '--no-color', ...profile])
  await step(`${name}: npm publish --dry-run`, 'npm', ['publish', tarball, '--dry-run', '--ignore-scripts'])

  const target = join(modules, name)
  mkdirSync(target, { recursive: true })
  await step(`${name}: unpack`, 'tar', ['-xzf', tarball, '--strip-components=1', '-C', target])
  const others = Object.keys({ ...dependencies, ...peerDependencies }).filter((other) => !other.startsWith('@scoregw/'))
  for (const other of others) {
    if (peerDependenciesMeta[other]?.optional !== true) link(other, join(root, folder, 'node_modules', other))
  }
}

/** A library is loaded in both ways, a command is run. */
async function checkMain(folder) {
  const { name, version, exports, bin = {} } = manifestOf(folder)
  if (isForWorkers(exports)) await checkBundles(name)
  else if (exports['.'] !== undefined) await checkLoads(name)
  for (const [command, file] of Object.entries(bin)) {
    await step(`${command} --version`, 'node', [join(modules, name, file), '--version'], undefined, `${version}\n`)
  }
}

/** Entries beside the main one, which has to load without the optional peers that these may need. */
async function checkOtherEntries(folder) {
  const { name, exports, peerDependenciesMeta = {} } = manifestOf(folder)
  for (const other of Object.keys(peerDependenciesMeta)) link(other, join(root, folder, 'node_modules', other))
  const entries = Object.keys(exports).filter((entry) => entry !== '.' && !entry.endsWith('.json'))
  for (const entry of entries) await checkLoads(name + entry.slice(1))
}

/** Outside packages come from the workspace's installation; our own from their tarballs. */
function link(name, source) {
  const path = join(modules, name)
  mkdirSync(dirname(path), { recursive: true })
  rmSync(path, { force: true })
  symlinkSync(realpathSync(source), path)
}

async function checkLoads(name) {
  const file = (extension, code) => {
    const path = join(temporary, `load.${extension}`)
    writeFileSync(path, code)
    return path
  }
  // What only adds types has no values.
  const some = name.endsWith('/augment') ? '' : 'if (Object.keys(loaded).length === 0) throw new Error("no exports")'
  await step(`${name}: import`, 'node', [file('mjs', `import * as loaded from '${name}'\n${some}`)])
  await step(`${name}: require`, 'node', [file('cjs', `const loaded = require('${name}')\n${some}`)])
}

/** Packages without CommonJS are for Workers, whose own modules Node does not have. */
function isForWorkers(exports) {
  return exports['.']?.default !== undefined
}

/** As wrangler does with the flag `nodejs_compat`. */
async function checkBundles(name) {
  const path = join(temporary, 'worker.mjs')
  writeFileSync(path, `export * from '${name}'`)
  const flags = ['--bundle', '--platform=node', '--format=esm', '--external:cloudflare:*', '--log-level=error']
  await step(`${name}: bundle`, 'esbuild', [path, ...flags, '--outfile=/dev/null'])
}

/** Errors of one build are known to the class of the other. */
async function checkErrors() {
  const path = join(temporary, 'errors.mjs')
  const lines = [
    "import { createRequire } from 'node:module'",
    "import { QuotaError } from '@scoregw/quota'",
    "const { QuotaError: Other } = createRequire(import.meta.url)('@scoregw/quota')",
    'const known = (Class, error) => error instanceof Class',
    "const both = known(QuotaError, new Other('store_full', '')) && known(Other, new QuotaError('store_full', ''))",
    "if (Other === QuotaError || !both) throw new Error('an error of the other build is not known')",
  ]
  writeFileSync(path, lines.join('\n'))
  await step('errors of the other build', 'node', [path])
}

async function step(title, command, args, cwd, expected) {
  const { code, output } = await run(command, args, cwd)
  const isOk = code === 0 && (expected === undefined || output === expected)
  console.log(`${isOk ? 'ok  ' : 'FAIL'} ${title}`)
  if (isOk) return
  failed = true
  console.log(output)
}
