// Builds the packages as published, and runs the profiler with the arguments given.
import { spawnSync } from 'node:child_process'

const names = ['quota', 'quota-express', 'quota-fastify', 'quota-fetch', 'quota-redis']
const built = names.flatMap((name) => ['--filter', `@scoregw/${name}`])
const steps = [
  [process.execPath, ['scripts/pnpm.mjs', ...built, 'run', 'build']],
  ['tsx', ['bench/src/profile/main.ts', ...process.argv.slice(2)]],
]
for (const [command, args] of steps) {
  const { status } = spawnSync(command, args, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
