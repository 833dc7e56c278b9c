import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { print, reportOf } from './report.ts'
import { suites } from './suites.ts'

const usage = `usage: npm run bench -- ${Object.keys(suites).join('|')} [--json FILE] [--quick | --full]`

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      json: { type: 'string' },
      quick: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  })
  const [name = ''] = positionals
  const suite = Object.hasOwn(suites, name) ? suites[name] : undefined
  if (suite === undefined || positionals.length !== 1) throw new Error(usage)
  const report = reportOf(name, await suite(values.quick, values.full))
  print(report)
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`)
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
