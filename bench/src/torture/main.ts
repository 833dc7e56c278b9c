import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { TORTURE_CASES, type TortureFinding } from '@scoregw/quota-testkit/torture'
import { resultFrom } from '../child.ts'
import { versionOf } from '../versions.ts'
import { type Contestant, MEMORY, ON_REDIS } from './contestants.ts'
import { PAGE, pageOf, RESULTS, type TortureResult, tortureResults } from './page.ts'

const ALL = [...MEMORY, ...ON_REDIS]

const usage = `usage: npm run torture                                plays all cases on all limiters, and writes the page
       npm run torture -- --only NAME [--case CASE]   plays one, and prints what it finds
       npm run torture -- --page                      writes the page from the committed results
names: ${ALL.map(({ name }) => name).join('; ')}
cases: ${TORTURE_CASES.join('; ')}`

function resultOf({ name, packages }: Contestant, findings: readonly TortureFinding[]): TortureResult {
  const versions = packages.map((each) => [each, each.startsWith('@scoregw/') ? 'this repository' : versionOf(each)])
  return { name, versions: Object.fromEntries(versions), findings }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, case: { type: 'string' }, page: { type: 'boolean', default: false } },
  })
  const chosen = ALL.filter(({ name }) => values.only === undefined || values.only === name)
  const cases = values.case === undefined ? [] : [values.case]
  const isKnown = values.case === undefined || (TORTURE_CASES as readonly string[]).includes(values.case)
  if (chosen.length === 0 || !isKnown) throw new Error(usage)
  const kept = new Map(tortureResults().map((result) => [result.name, result]))
  for (const contestant of values.page ? [] : chosen) {
    console.error(`${contestant.name} ...`)
    const findings = await resultFrom<readonly TortureFinding[]>('torture/play.ts', [contestant.name, ...cases])
    for (const { case: name, verdict, found } of findings)
      console.log(`  ${verdict}: ${name}${found ? `\n    ${found}` : ''}`)
    kept.set(contestant.name, resultOf(contestant, findings))
  }
  if (values.only !== undefined) return
  const results = ALL.flatMap(({ name }) => kept.get(name) ?? [])
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`)
  writeFileSync(PAGE, pageOf(results))
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
