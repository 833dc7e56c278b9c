import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Report } from './report.ts'

/** The folder of the results that the documentation shows. */
export const COMMITTED: string = join(import.meta.dirname, '../results')

export function write(file: string, report: Report): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(report, short, 2)}\n`)
}

/** The last committed report of a suite; `undefined` if there is none. */
export function read(suite: string, folder: string = COMMITTED): Report | undefined {
  const file = join(folder, `${suite}.json`)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Report) : undefined
}

/** Four digits are as precise as the measurements. */
function short(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value
}
