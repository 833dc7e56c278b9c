import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pictures } from './picture.ts'
import type { Report } from './report.ts'
import { read } from './results.ts'
import { suites } from './suites.ts'
import { TABLES } from './tables.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Pages that show results between `<!-- bench: SUITE TABLE -->` and `<!-- /bench -->`. */
const PAGES = ['bench/RESULTS.md', 'docs/guide/benchmarks.md', 'docs/guide/waiting.md']

type Reports = Readonly<Record<string, Report | undefined>>

/** The current content of the pages and the picture, from the committed results, by path. */
export function pagesNow(): Readonly<Record<string, string>> {
  const reports = Object.fromEntries(Object.keys(suites).map((suite) => [suite, read(suite)]))
  const pages = PAGES.map((page) => [page, filled(readFileSync(join(ROOT, page), 'utf8'), reports, page)])
  return { ...Object.fromEntries(pages), ...pictures(reports) }
}

export function writePages(): void {
  for (const [page, content] of Object.entries(pagesNow())) writeFileSync(join(ROOT, page), content)
}

/** A page with each of its tables filled in from the results. */
function filled(text: string, reports: Reports, page: string): string {
  return text.replaceAll(/(<!-- bench: (\w+) (\w+) -->\n)[\s\S]*?(<!-- \/bench -->)/g, (_, start, suite, kind, end) => {
    const tableOf = Object.hasOwn(TABLES, kind) ? TABLES[kind] : undefined
    if (tableOf === undefined || !Object.hasOwn(suites, suite)) {
      throw new Error(`${page}: there is no "${suite} ${kind}" to show: ${Object.keys(TABLES).join(', ')} of a suite`)
    }
    const report = reports[suite]
    return `${start}\n${report === undefined ? 'Not measured yet.' : tableOf(report)}\n\n${end}`
  })
}
