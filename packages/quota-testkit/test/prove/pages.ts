import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProofResult, proofPages } from '@scoregw/quota-histories'
import { promisesTable } from './promises.ts'
import { PROOFS } from './proofs.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const FOLDER = join(ROOT, 'docs/proof')
const RESULTS = join(ROOT, 'bench/results/prove.json')

/** The committed results of `npm run prove`. */
export function committedProofs(): readonly ProofResult[] {
  return existsSync(RESULTS) ? (JSON.parse(readFileSync(RESULTS, 'utf8')) as readonly ProofResult[]) : []
}

/** The pages as results make them, by their files. */
export function pagesOf(results: readonly ProofResult[]): Readonly<Record<string, string>> {
  const overview = readFileSync(join(FOLDER, 'index.md'), 'utf8').replace(
    /(<!-- promises -->\n)[\s\S]*?(<!-- \/promises -->)/,
    (_, start, end) => `${start}\n${promisesTable(results)}\n\n${end}`,
  )
  const pages = Object.entries(proofPages(PROOFS, results, overview))
  return Object.fromEntries(pages.map(([name, text]) => [join(FOLDER, name), text]))
}

export function writeProofs(results: readonly ProofResult[]): void {
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`)
  for (const [file, text] of Object.entries(pagesOf(results))) writeFileSync(file, text)
}
