// Builds the packages as published, and runs the benchmark with the arguments given.
import { spawnSync } from 'node:child_process'

const args = process.argv.slice(2)
const names = ['quota', 'quota-cli', 'quota-express', 'quota-fastify', 'quota-fetch', 'quota-redis', 'quota-sql']
const built = names.flatMap((name) => ['--filter', `@scoregw/${name}`])
const build = [process.execPath, ['scripts/pnpm.mjs', ...built, 'run', 'build']]
const bench = ['tsx', ['bench/src/main.ts', ...args]]
const steps = args.includes('pages') ? [bench] : [build, bench]
for (const [command, args] of steps) {
  const { status } = spawnSync(command, args, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
