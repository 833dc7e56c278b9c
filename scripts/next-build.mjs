// Builds the Next.js example from the packed packages as its readers do, starts it, and asks what its guide promises.
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { manifestOf, root } from './workspace.mjs'

const NEEDED = ['quota', 'quota-fetch']
/** Next.js has half a gigabyte and changes rarely. */
const app = join(root, '.cache/next')

/** @param modules the folder of the unpacked packages; @param step runs a command and reports its end */
export async function checkNext(modules, step) {
  mkdirSync(app, { recursive: true })
  const { dependencies, devDependencies } = manifestOf('examples/next')
  const others = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([name]) => !name.startsWith('@scoregw/'),
  )
  const wanted = others.map(([name, range]) => `${name}@${range}`)
  const own = NEEDED.map((name) => join(modules, '@scoregw', name))
  // Turbopack follows no link out of its folder, so that the packages are installed as copies.
  const flags = ['--install-links', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--prefix', app]
  await step('Next.js: install', 'npm', ['install', ...flags, ...wanted, ...own], app)
  for (const name of ['app', 'proxy.ts']) {
    rmSync(join(app, name), { recursive: true, force: true })
    cpSync(join(root, 'examples/next', name), join(app, name), { recursive: true })
  }
  // Next.js writes the rest.
  writeFileSync(join(app, 'tsconfig.json'), '{ "compilerOptions": { "strict": true } }')
  const next = join(app, 'node_modules/next/dist/bin/next')
  process.env.NEXT_TELEMETRY_DISABLED = '1'
  await step('Next.js: build', 'node', [next, 'build'], app)
  await step('Next.js: what it built', 'node', [import.meta.filename, app], app, 'as promised\n')
}

/** In a process of its own: what the built app answers. */
async function ask(folder) {
  const port = await freePort()
  const next = join(folder, 'node_modules/next/dist/bin/next')
  const server = spawn(process.execPath, [next, 'start', '--port', String(port)], { cwd: folder, stdio: 'ignore' })
  const answer = async (path, user) => fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-user': user } })
  const left = async () => /\d+ of 120 left/.exec(await (await answer('/usage', 'ann')).text())?.[0]
  try {
    while (server.exitCode === null && !(await answer('/usage', 'ann').catch(() => undefined))) await wait(200)
    // A success is charged and a failure isn't; the page sees the engine of the route.
    same((await answer('/scores/42', 'ann')).status, 200)
    same((await answer('/scores/7', 'ann')).status, 404)
    same(await left(), '119 of 120 left')
    same((await answer('/scores/42', '')).status, 401)
    // The proxy also counted the failure, and refuses before the route is asked.
    for (let count = 2; count < 60; count++) same((await answer('/scores/42', 'ann')).status, 200)
    same((await answer('/scores/42', 'ann')).status, 429)
    same(await left(), '61 of 120 left')
    console.log('as promised')
  } finally {
    server.kill()
  }
}

function same(actual, wanted) {
  if (actual !== wanted) throw new Error(`expected ${wanted}, got ${actual}`)
}

async function freePort() {
  const server = createServer().listen(0)
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}

if (process.argv[1] === import.meta.filename) await ask(process.argv[2])
