import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createQuota, type Policy, parsePolicy, QuotaError } from '@scoregw/quota'
import { luxonCalendar } from '@scoregw/quota/calendar'
import type { Fault } from '@scoregw/quota/internal'
import { CliError, EXIT, usageError } from './cli-error.ts'
import { parseJson, readText } from './files.ts'
import { plain } from './text.ts'

/** An invalid policy, with every fault. */
export class FaultyPolicy extends CliError {
  readonly faults: readonly Fault[]

  constructor(path: string, { faults, cause }: { readonly faults: readonly Fault[]; readonly cause: unknown }) {
    const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`
    super(`${plain(path, 200)} has ${count}`, {
      exitCode: EXIT.found,
      remedy: `quota-cli check ${plain(path, 200)} shows where`,
      cause,
    })
    this.faults = faults
  }
}

const MODULE = /\.[cm]?[jt]s$/

/**
 * Reads a policy: JSON for `parsePolicy()`, or a module that exports a policy, or the argument of `definePolicy()`, as
 * `policy` or by default.
 *
 * @throws {FaultyPolicy} naming every fault
 * @throws {CliError} `usage` if the file cannot be read
 */
export async function readPolicy(path: string): Promise<Policy> {
  const isModule = MODULE.test(path)
  const document = isModule ? await exported(path) : parseJson(path, await readText(path))
  try {
    const instead = byName(document)
    if (instead !== undefined) throw new QuotaError('invalid_policy', instead)
    const policy = isModule && isRead(document) ? document : parsePolicy(document)
    // The engine checks what the schema cannot: the width of rows, names that a store can distinguish, known time zones.
    await createQuota({ policy, calendar: luxonCalendar(), logger: false }).close()
    return policy
  } catch (error) {
    if (!(error instanceof QuotaError)) throw error
    const faults = error.faults.length > 0 ? error.faults : [{ path: '', message: error.message }]
    throw new FaultyPolicy(path, { faults, cause: error })
  }
}

/** Whether a module exports what `definePolicy()` returned. */
function isRead(document: unknown): document is Policy {
  return isObject(document) && Array.isArray(document.limits)
}

/** What to write instead of limits without names; `undefined`: the document is something else. */
function byName(document: unknown): string | undefined {
  if (!isObject(document) || 'limits' in document) return undefined
  const { limit = 100, per = '15m' } = document
  const example = JSON.stringify({ limits: { api: { by: 'user', limit, per } } })
  return 'limit' in document || 'per' in document ? `a limit has a name: write ${example}` : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

async function exported(path: string): Promise<unknown> {
  // Read first, so that a missing file gets its own message.
  await readText(path)
  let loaded: { readonly default?: unknown; readonly policy?: unknown }
  try {
    loaded = (await import(pathToFileURL(resolve(path)).href)) as typeof loaded
  } catch (error) {
    const message = error instanceof Error ? plain(error.message, 200) : 'it throws'
    throw usageError(`cannot load ${plain(path, 200)}: ${message}`, remedyOf(error), error)
  }
  const policy = loaded.policy ?? loaded.default
  if (policy !== undefined) return policy
  throw usageError(`${plain(path, 200)} exports no policy`, 'write `export const policy = definePolicy({ ... })`')
}

function remedyOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown }).code
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION' || error instanceof SyntaxError) {
    return 'TypeScript needs Node 22.18 or later; a policy as JSON works everywhere'
  }
  return code === 'ERR_MODULE_NOT_FOUND' ? 'run it where its packages are installed' : undefined
}
