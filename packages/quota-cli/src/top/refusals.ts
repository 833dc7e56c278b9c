import { CliError, EXIT, usageError } from '../cli-error.ts'

/** A process's refusals since it started, by binding limit. */
export type Refusals = ReadonlyMap<string, number>

const PATIENCE_MS = 3_000
/** The largest metrics page that is read, in characters. */
const MAX_TEXT = 8_000_000
const LINE = /^\w*refusals_total\{(?<labels>[^}]*)\} (?<value>[0-9.e+]+)/gm
const SHADOWED = /^\w*shadowed_refusals_total/

/**
 * Reads refusals from a page in Prometheus' format.
 *
 * @throws {CliError} `server` if the page is missing, or has no refusals
 */
export async function readRefusals(url: string): Promise<Refusals> {
  const address = URL.canParse(url) ? new URL(url) : undefined
  if (address === undefined || !['http:', 'https:'].includes(address.protocol)) {
    throw usageError('--metrics: not an http(s) URL')
  }
  const shown = `${address.protocol}//${address.host}${address.pathname}`
  const text = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MS) }).then(
    async (response) => (response.ok ? (await response.text()).slice(0, MAX_TEXT) : undefined),
    () => undefined,
  )
  const remedy = 'serve the prom-client registry that registerQuotaMetrics() fills'
  if (text === undefined) throw new CliError(`${shown}: not a metrics page`, { exitCode: EXIT.server, remedy })
  const refusals = refusalsOf(text)
  if (refusals.size === 0)
    throw new CliError(`${shown}: no metric name ends with refusals_total`, { exitCode: EXIT.server, remedy })
  return refusals
}

function refusalsOf(text: string): Map<string, number> {
  const refusals = new Map<string, number>()
  for (const { groups, 0: line } of text.matchAll(LINE)) {
    if (SHADOWED.test(line)) continue
    const labels = Object.fromEntries((groups?.labels ?? '').split(',').map((each) => each.split('=')))
    const named = ['layer', 'category', 'window'].map((label) => String(labels[label] ?? '""').slice(1, -1))
    const name = named.join(' ')
    refusals.set(name, (refusals.get(name) ?? 0) + Number(groups?.value))
  }
  return refusals
}
