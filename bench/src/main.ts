import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runAll } from './all.ts'
import { writePages } from './pages.ts'
import { print, progressEnds } from './print.ts'
import { machineNow, reportOf } from './report.ts'
import { COMMITTED, write } from './results.ts'
import { suites } from './suites.ts'

const usage = `usage: npm run bench -- ${Object.keys(suites).join('|')} [--json FILE] [--quick] [--publish]
       npm run bench -- all [--results FOLDER] [--quick]   every suite, one after the other
       npm run bench -- pages                              puts the committed results into the pages that show them
       --publish puts what a suite finds among the committed results, and into the pages`

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      json: { type: 'string' },
      results: { type: 'string', default: COMMITTED },
      quick: { type: 'boolean', default: false },
      publish: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  })
  const [name = ''] = positionals
  if (positionals.length !== 1) throw new Error(usage)
  if (name === 'all') return runAll(values.results, values.quick)
  if (name === 'pages') return writePages()
  const load = Object.hasOwn(suites, name) ? suites[name] : undefined
  if (load === undefined) throw new Error(usage)
  const suite = await load()
  const machine = machineNow()
  const findings = await suite(values.quick)
  progressEnds()
  print(findings)
  const report = reportOf(name, machine, findings)
  if (values.json !== undefined) write(values.json, report)
  if (!values.publish) return
  write(join(COMMITTED, `${name}.json`), report)
  writePages()
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
