// For each extra of the gateway and of its console: takes its folder and its line away, in a copy next to the app. The rest has
// to type-check and to pass its tests; the gateway those in the specification.
// `node scripts/without-extras.mjs [name or console/name...]`
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root } from './workspace.mjs'

const vitest = join(createRequire(import.meta.url).resolve('vitest/package.json'), '..', 'vitest.mjs')
const given = process.argv.slice(2)

/** The project that has the tests of what is left. */
const projects = { gateway: 'with extras', console: 'tests' }

for (const [app, project] of Object.entries(projects)) {
  const names = readdirSync(join(root, 'examples', app, 'src/extras'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isWanted(app, entry.name))
    .map(({ name }) => name)
  for (const name of names) without(app, name, project)
}

function isWanted(app, name) {
  return given.length === 0 || given.includes(name) || given.includes(`${app}/${name}`)
}

function without(app, name, project) {
  const folder = `examples/${app}-without-${name}`
  const copy = join(root, folder)
  try {
    cpSync(join(root, 'examples', app), copy, { recursive: true, verbatimSymlinks: true })
    for (const of of ['src', 'test']) rmSync(join(copy, of, 'extras', name), { recursive: true, force: true })
    const list = join(copy, 'src/extras/index.ts')
    const lines = readFileSync(list, 'utf8').split('\n')
    const rest = lines.filter((line) => !line.includes(`'./${name}/`))
    if (rest.length !== lines.length - 1)
      throw new Error(`extras/index.ts has ${name} on more lines than one, or on none`)
    writeFileSync(list, rest.join('\n'))
    run(folder, [join(root, 'node_modules/typescript-7/bin/tsc'), '--noEmit', '-p', copy, '--pretty', 'false'])
    run(folder, [vitest, 'run', '--config', 'vitest.workspace.ts', '--project', project, folder], {
      SLOW_TESTS: 'on',
    })
    console.log(`ok   ${folder}`)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

function run(folder, args, env = {}) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } })
  if (status === 0) return
  console.error(`failed ${folder}`)
  process.exitCode = 1
}
