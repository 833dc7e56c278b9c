import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runAll } from './all.ts'
import { writePages } from './pages.ts'
import { print } from './print.ts'
import { progressEnds } from './progress.ts'
import { machineNow, reportOf } from './report.ts'
import { write } from './results.ts'
import { suites } from './suites.ts'

const usage = `usage: npm run bench -- ${Object.keys(suites).join('|')} [--json FILE] [--quick | --full]
       npm run bench -- all [--results FOLDER] [--quick]   every suite, one after the other
       npm run bench -- pages                              puts the committed results into the pages that show them`

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      json: { type: 'string' },
      results: { type: 'string', default: join(import.meta.dirname, '../results') },
      quick: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
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
  const findings = await suite(values.quick, values.full)
  progressEnds()
  print(findings)
  if (values.json !== undefined) write(values.json, reportOf(name, machine, findings))
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
