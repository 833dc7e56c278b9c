// Runs Vitest and closes with `N passed, N failed` alone on a line, read from its JSON report.
// `--deep` sets QUOTA_TEST_DEEP=1 (more random cases); every other argument goes to Vitest.
// Exits non-zero when a test failed, when Vitest itself failed, and when no test ran.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const args = process.argv.slice(2)
const deep = args.includes('--deep')
const folder = mkdtempSync(join(tmpdir(), 'quota-test-'))
const report = join(folder, 'report.json')
const vitest = join(createRequire(import.meta.url).resolve('vitest/package.json'), '..', 'vitest.mjs')

const run = spawnSync(
  process.execPath,
  [
    vitest,
    'run',
    '--config=vitest.workspace.ts',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...args.filter((arg) => arg !== '--deep'),
  ],
  { stdio: 'inherit', env: deep ? { ...process.env, QUOTA_TEST_DEEP: '1' } : process.env },
)

const { passed, failed, skipped } = countTests(report)
rmSync(folder, { recursive: true, force: true })

const vitestFailed = run.status !== 0
if (passed + failed === 0) console.error('No test ran.')
// A crash or an unhandled error outside any test still counts as a failure.
const failures = failed === 0 && (vitestFailed || passed === 0) ? 1 : failed
console.log(`${passed} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failures > 0 ? run.status || 1 : 0

function countTests(file) {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  let results
  try {
    results = JSON.parse(readFileSync(file, 'utf8')).testResults
  } catch {
    return counts
  }
  for (const { status, assertionResults } of results) {
    const before = counts.failed
    for (const test of assertionResults) {
      if (test.status === 'passed') counts.passed += 1
      else if (test.status === 'failed') counts.failed += 1
      else counts.skipped += 1
    }
    // A file that could not be loaded has no tests to report, but has failed.
    if (status === 'failed' && counts.failed === before) counts.failed += 1
  }
  return counts
}
