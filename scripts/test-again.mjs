// Runs the tests again and again, beside programs that keep the processor busy, and reports which failed how often.
//   npm run test:again -- 10 --busy 4 [arguments for Vitest]
// A run in which a test failed and then passed by itself is not green. Exits non-zero unless every run was.
import { spawn } from 'node:child_process'
import { isGreen, lineOf, reportOf } from './runs-report.mjs'
import { newSeed, runSuite } from './suite.mjs'

/** Keeps one processor busy; ends with its parent, however that ends. */
const BUSY = 'const { ppid } = process; while (process.ppid === ppid) for (let i = 0; i < 1e8; i++);'

const { count, busy, given } = parse(process.argv.slice(2))
const aborted = new AbortController()
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => aborted.abort(new Error(`ended by ${name}`)))

const loops = Array.from({ length: busy }, () => spawn(process.execPath, ['-e', BUSY], { stdio: 'ignore' }))
process.once('exit', () => {
  for (const loop of loops) loop.kill('SIGKILL')
})

const runs = []
try {
  while (runs.length < count) {
    const from = performance.now()
    const seed = process.env.QUOTA_TEST_SEED ?? newSeed()
    const result = await runSuite(given, seed, aborted.signal)
    runs.push({ ...result, durationMs: performance.now() - from })
    console.log(`${lineOf(runs.at(-1), runs.length - 1)}, seed ${seed}`)
  }
} catch (error) {
  if (!aborted.signal.aborted) throw error
  console.error(aborted.signal.reason.message)
}
console.log(['', ...reportOf(runs)].join('\n'))
process.exit(runs.length === count && runs.every(isGreen) ? 0 : 1)

function parse([times, ...more]) {
  const at = more.indexOf('--busy')
  const [, loops = ''] = at < 0 ? ['', '0'] : more.splice(at, 2)
  if (!/^[1-9]\d*$/.test(times ?? '') || !/^\d+$/.test(loops)) {
    console.error('Usage: npm run test:again -- <runs, from 1> [--busy <loops, from 0>] [arguments for Vitest]')
    process.exit(2)
  }
  return { count: Number(times), busy: Number(loops), given: more }
}
