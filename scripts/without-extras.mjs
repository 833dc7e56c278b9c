// Takes each extra of the gateway away in turn, its folder and its line, from a copy of the gateway next to it. What is left
// has to type-check and to pass the tests of the specification. `node scripts/without-extras.mjs [name...]`
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root } from './workspace.mjs'

const gateway = join(root, 'examples/gateway')
const vitest = join(createRequire(import.meta.url).resolve('vitest/package.json'), '..', 'vitest.mjs')
const given = process.argv.slice(2)
const names = readdirSync(join(gateway, 'src/extras'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && (given.length === 0 || given.includes(entry.name)))
  .map(({ name }) => name)

for (const name of names) without(name)

function without(name) {
  const folder = `examples/gateway-without-${name}`
  const copy = join(root, folder)
  try {
    cpSync(gateway, copy, { recursive: true, verbatimSymlinks: true })
    for (const of of ['src', 'test']) rmSync(join(copy, of, 'extras', name), { recursive: true, force: true })
    const list = join(copy, 'src/extras/index.ts')
    const lines = readFileSync(list, 'utf8').split('\n')
    const rest = lines.filter((line) => !line.includes(`'./${name}/`))
    if (rest.length !== lines.length - 1)
      throw new Error(`extras/index.ts has ${name} on more lines than one, or on none`)
    writeFileSync(list, rest.join('\n'))
    run(name, [join(root, 'node_modules/typescript-7/bin/tsc'), '--noEmit', '-p', copy, '--pretty', 'false'])
    run(name, [vitest, 'run', '--config', 'vitest.workspace.ts', '--project', 'specification', folder], {
      EXTRAS: 'all',
    })
    console.log(`ok   without ${name}`)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

function run(name, args, env = {}) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } })
  if (status === 0) return
  console.error(`failed without ${name}`)
  process.exitCode = 1
}
