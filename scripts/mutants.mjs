// Puts one-line faults into the sources, one after the other, and reports which the tests don't notice.
//   npm run mutants                 all faults
//   npm run mutants -- windows 7    those whose file, line or tests contain one of the words
// `mutants.json` lists them by file: a line of it (or a part of one), what replaces it, and the tests that find it. No file
// is changed: the tests load the sources with the fault in them. A fault that nobody needs to notice says why in `since`.
// Exits non-zero if a fault survived without a reason, if a line no longer occurs exactly once, or if a test fails anyway.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createVitest } from 'vitest/node'
import { root } from './workspace.mjs'

/** A fault: `line` becomes `instead` in `file`; `tests` are parts of the paths of test files. */
const listed = JSON.parse(readFileSync(join(root, 'scripts/mutants.json'), 'utf8')).flatMap(({ file, tests, faults }) =>
  faults.map(({ tests: own = tests, ...fault }) => ({ file, tests: own, ...fault })),
)
const words = process.argv.slice(2)
const chosen = listed.filter(
  (fault) => words.length === 0 || words.some((word) => JSON.stringify(fault).includes(word)),
)
const missing = listed.filter(({ file, line }) => readFileSync(join(root, file), 'utf8').split(line).length !== 2)
for (const { file, line } of missing) console.error(`not exactly once in ${file}: ${line}`)

const vitest = await createVitest('test', {
  config: join(root, 'vitest.workspace.ts'),
  project: ['tests'],
  watch: false,
  bail: 1,
  maxWorkers: 1,
  reporters: [{}],
})
let number = 0
const rows = []
try {
  for (const tests of new Set(chosen.map((fault) => fault.tests.join(' '))))
    if (!(await pass(tests.split(' ')))) rows.push({ verdict: 'fails without a fault', what: tests })
  for (const fault of chosen.filter((each) => !missing.includes(each))) {
    const began = performance.now()
    const found = !(await pass(fault.tests, fault))
    const seconds = ((performance.now() - began) / 1_000).toFixed(1)
    const survived = fault.since === undefined ? 'SURVIVED' : 'survived'
    const verdict = found ? 'found' : survived
    const what = `${fault.file}: ${fault.line.trim()}  ->  ${fault.instead.trim()}`
    console.log(`${++number}/${chosen.length} ${verdict} (${seconds} s) ${what}`)
    if (!found) rows.push({ verdict, what: `${what}${fault.since === undefined ? '' : `\n    ${fault.since}`}` })
  }
} finally {
  await vitest.close()
}
console.log(['', ...rows.map(({ verdict, what }) => `${verdict}: ${what}`)].join('\n'))
console.log(
  `${number} faults, ${rows.filter(({ verdict }) => verdict === 'SURVIVED').length} survived without a reason`,
)
process.exit(missing.length > 0 || rows.some(({ verdict }) => verdict !== 'survived') ? 1 : 0)

/** Whether the tests pass with a fault in the sources. */
async function pass(tests, fault) {
  process.env.QUOTA_TEST_FAULT = fault === undefined ? '' : JSON.stringify(fault)
  if (fault !== undefined) vitest.invalidateFile(join(root, fault.file))
  // A worker keeps the modules that it has loaded.
  await vitest.pool?.close?.()
  vitest.pool = undefined
  const specifications = await vitest.globTestSpecifications(tests)
  if (specifications.length < tests.length) throw new Error(`no tests: ${tests.join(' ')}`)
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications, false)
  if (fault !== undefined) vitest.invalidateFile(join(root, fault.file))
  return unhandledErrors.length === 0 && testModules.every((each) => each.ok())
}
