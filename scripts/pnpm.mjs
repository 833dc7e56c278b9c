// Runs the pnpm that package.json names as `packageManager`, which installs what is missing first: so a root script works
// on a fresh clone, on machines without pnpm, and with one version written in one place.
//   node scripts/pnpm.mjs exec tsx some-file.ts
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { manifestOf } from './workspace.mjs'

const { packageManager } = manifestOf('.')
const child = spawn('npx', ['--yes', packageManager, ...process.argv.slice(2)], { stdio: 'inherit' })
// This process ends when the one it started has ended. A terminal's interrupt reaches both; a signal to this one alone is
// passed on.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => child.kill('SIGTERM'))
child.on('error', (error) => {
  console.error(`npx could not be started: ${error.message}`)
  process.exitCode = 1
})
child.on('exit', (code, signal) => {
  process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0)
})
