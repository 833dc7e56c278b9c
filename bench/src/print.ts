import type { Findings, Target } from './report.ts'

/** Prints findings on standard output: a table of each kind, then the goals. */
export function print({ targets, ...tables }: Findings): void {
  for (const rows of Object.values(tables)) if (rows.length > 0) console.table(rows.map(shown))
  printTargets(targets)
}

function shown(row: object): object {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, shownValue(value)]))
}

function shownValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shownValue).join(' to ')
  return typeof value === 'number' ? rounded(value) : value
}

/** Prints each goal in a line: reached or missed, and why. */
export function printTargets(targets: readonly Target[]): void {
  for (const target of targets) console.log(lineOf(target))
}

function lineOf({ name, target, wanted, reached, ok, because }: Target): string {
  const reason = because === undefined ? '' : `\n          ${because}`
  return `${ok ? 'reached' : 'missed '} ${name}: ${rounded(reached)}, wanted at ${wanted} ${target}${reason}`
}

/** Rounds to three decimals. */
export function rounded(value: number): number {
  return Number(value.toFixed(3))
}

/** Shows the current measurement on standard error, so that standard output only has the findings. */
export function progress(what: string): void {
  const { stderr } = process
  if (!stderr.isTTY) {
    stderr.write(`${what}\n`)
    return
  }
  stderr.clearLine(0)
  stderr.cursorTo(0)
  stderr.write(what)
}

/** Ends the line of {@link progress}. */
export function progressEnds(): void {
  progress('')
}
