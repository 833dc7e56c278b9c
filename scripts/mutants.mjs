// Puts one-line faults into the sources, one after the other, and reports which the tests don't notice.
//   npm run mutants                 all faults
//   npm run mutants -- windows 7    those whose file, line or tests contain one of the words
// `mutants.json` lists them by file: a line of it (or a part of one), what replaces it, and the tests that find it. No file
// is changed: the tests load the sources with the fault in them. A fault that nobody needs to notice says why in `since`.
// Exits non-zero if a fault survived without a reason, if a line no longer occurs exactly once, or if a test fails anyway.
import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
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

// Random cases are those of `npm test`: what finds a fault today finds it tomorrow.
process.env.QUOTA_TEST_SEED ??= '1'
const vitest = await createVitest('test', {
  config: join(root, 'vitest.workspace.ts'),
  watch: false,
  bail: 1,
  maxWorkers: 1,
  reporters: [{}],
})
const startedAt = performance.now()
let number = 0
const rows = []
/** How many faults had each verdict, by folder and kind of file. `survived` has a reason, `SURVIVED` has none. */
const totals = {}
try {
  for (const what of await failing([...new Set(chosen.flatMap(({ tests }) => tests))])) {
    console.log(`fails without a fault: ${what}`)
    rows.push({ verdict: 'fails without a fault', what })
  }
  for (const fault of chosen.filter((each) => !missing.includes(each))) {
    const began = performance.now()
    const found = (await failing(fault.tests, fault)).length > 0
    const seconds = ((performance.now() - began) / 1_000).toFixed(1)
    const survived = fault.since === undefined ? 'SURVIVED' : 'survived'
    const verdict = found ? 'found' : survived
    const what = `${fault.file}: ${fault.line.trim()}  ->  ${fault.instead.trim()}`
    console.log(`${++number}/${chosen.length} ${verdict} (${seconds} s) ${what}`)
    const part = `${fault.file.split('/', 2).join('/')} ${extname(fault.file)}`
    totals[part] ??= { found: 0, survived: 0, SURVIVED: 0 }
    totals[part][verdict]++
    if (!found) rows.push({ verdict, what: `${what}${fault.since === undefined ? '' : `\n    ${fault.since}`}` })
  }
} finally {
  await vitest.close()
}
console.log(['', ...rows.map(({ verdict, what }) => `${verdict}: ${what}`)].join('\n'))
console.table(totals)
const unexplained = rows.filter(({ verdict }) => verdict === 'SURVIVED').length
const minutes = Math.ceil((performance.now() - startedAt) / 60_000)
console.log(`${number} faults in ${minutes} min, ${unexplained} survived without a reason`)
process.exit(missing.length > 0 || rows.some(({ verdict }) => verdict !== 'survived') ? 1 : 0)

/** The test files that fail with a fault in the sources: the first of them. */
async function failing(tests, fault) {
  process.env.QUOTA_TEST_FAULT = fault === undefined ? '' : JSON.stringify(fault)
  if (fault !== undefined) vitest.invalidateFile(join(root, fault.file))
  // A worker keeps the modules that it has loaded.
  await vitest.pool?.close?.()
  vitest.pool = undefined
  const specifications = await vitest.globTestSpecifications(tests)
  const ids = specifications.map(({ moduleId }) => moduleId)
  const unknown = tests.filter((test) => !ids.some((id) => id.includes(test)))
  if (unknown.length > 0) throw new Error(`no tests: ${unknown.join(' ')}`)
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications, false)
  if (fault !== undefined) vitest.invalidateFile(join(root, fault.file))
  // It also returns the modules of earlier runs, as they were then.
  const failed = testModules.filter((each) => ids.includes(each.moduleId) && !each.ok())
  return [...failed.map(({ relativeModuleId }) => relativeModuleId), ...unhandledErrors.map(({ message }) => message)]
}
