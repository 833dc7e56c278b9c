// Checks the Lua that servers run with luacheck: each script put together from its parts, as it is sent. A fault is named by
// the part and the line in it. luacheck is no npm package; where it is not installed, this says so and passes.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { root } from './workspace.mjs'

/** The globals that Redis provides to scripts. */
const OPTIONS = [
  ...['--std', 'lua51', '--no-cache', '--formatter', 'plain', '--codes', '--max-line-length', '130'],
  ...['--globals', 'redis', 'struct', 'cmsgpack', 'cjson', 'bit', 'KEYS', 'ARGV'],
]

// What stands in place of another script is not read: its name begins with a dot.
const INCLUDE = /^ *--- @include "((?:\.\.\/)*(?:[a-z]+\/)*[a-z-]+)"$/

/** The lines of a script, each with where it stands. */
export function linesOf(path) {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((text, index) => {
      const name = INCLUDE.exec(text)?.[1]
      return name === undefined ? [{ text, path, line: index + 1 }] : linesOf(join(dirname(path), `${name}.lua`))
    })
}

/** All scripts under a folder: files of Lua that no other includes. */
export function scriptsUnder(folder) {
  const files = readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => path.endsWith('.lua'))
  const included = files.flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((text) => INCLUDE.exec(text)?.[1] ?? [])
      .map((name) => join(dirname(path), `${name}.lua`)),
  )
  return files.filter((path) => !included.includes(path))
}

/** The faults of a script, one a line of text; `undefined` where luacheck is not installed. */
export function faultsOf(path) {
  const lines = linesOf(path)
  const input = lines.map(({ text }) => text).join('\n')
  const { error, stdout } = spawnSync('luacheck', [...OPTIONS, '-'], { input, encoding: 'utf8' })
  if (error !== undefined) return undefined
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, number, what] = /^stdin:(\d+):(.*)$/.exec(line) ?? []
      const at = lines[Number(number) - 1]
      return at === undefined ? line : `${relative(root, at.path)}:${at.line}:${what}`
    })
}

if (process.argv[1] === import.meta.filename) {
  const packages = join(root, 'packages')
  const folders = readdirSync(packages)
    .map((name) => join(packages, name, 'src'))
    .filter(existsSync)
  const scripts = folders.flatMap(scriptsUnder)
  const faults = scripts.map(faultsOf)
  if (faults.includes(undefined)) {
    console.log('Lua was NOT checked: luacheck is not on PATH (Debian: apt-get install lua-check; Homebrew: luacheck)')
  } else {
    for (const fault of faults.flat()) console.log(fault)
    console.log(`luacheck: ${faults.flat().length} faults in ${scripts.length} scripts`)
    if (faults.flat().length > 0) process.exitCode = 1
  }
}
