// Runs the pnpm that package.json names as `packageManager`, after installing missing packages: so every root script works
// as the first command in a fresh clone, on machines without pnpm, and with one version written in one place.
//   node scripts/pnpm.mjs exec tsx some-file.ts
//   node scripts/pnpm.mjs --filter docs run build
import { execFileSync, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { manifestOf } from './workspace.mjs'

/** How often it is checked that the program that started this one still runs. */
const PARENT_CHECK_MS = 500

const { packageManager } = manifestOf('.')
const pnpm = pathOf(packageManager)
const args = process.argv.slice(2)
const installsAll = args[0] === 'install' || args[0] === 'exec'
// A command with a filter would install for the filtered packages alone, and break the others: it runs within `exec`,
// which installs for all of them.
const child = spawn(pnpm, installsAll ? args : ['exec', pnpm, ...args], { stdio: 'inherit' })
// This process ends when the one it started has ended. A terminal's interrupt reaches both; a signal to this one alone is
// passed on. One to npm reaches npm's shell, which passes nothing on.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => child.kill('SIGTERM'))
const { ppid } = process
const parentCheck = setInterval(() => {
  if (process.ppid !== ppid) child.kill('SIGTERM')
}, PARENT_CHECK_MS)
child.on('error', (error) => {
  clearInterval(parentCheck)
  console.error(`pnpm could not be started: ${error.message}`)
  process.exitCode = 1
})
child.on('exit', (code, signal) => {
  clearInterval(parentCheck)
  process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0)
})

/** Installs pnpm into npm's cache where it is missing. Started by its path, it gets the signals that npx would lose. */
function pathOf(name) {
  try {
    const find = ['--yes', `--package=${name}`, '--call', 'command -v pnpm']
    return execFileSync('npx', find, { encoding: 'utf8', stdio: ['inherit', 'pipe', 'inherit'] }).trim()
  } catch (error) {
    console.error(`npx could not find ${name}: ${error.message}`)
    process.exit(1)
  }
}
