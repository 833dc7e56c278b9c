import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  createQuota,
  definePolicy,
  type Fault,
  type Policy,
  QuotaError,
  type SyncQuota,
  simpleQuota,
} from '@scoregw/quota'
import { luxonCalendar } from '@scoregw/quota/calendar'
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
 * Reads a policy: JSON for `definePolicy()`, `{ limit, per }` for `simpleQuota()`, or a module that exports one as
 * `policy` or by default.
 *
 * @throws {FaultyPolicy} naming every fault
 * @throws {CliError} `usage` if the file cannot be read
 */
export async function readPolicy(path: string): Promise<Policy> {
  const document = MODULE.test(path) ? await exported(path) : parseJson(path, await readText(path))
  try {
    const policy = isSimple(document) ? simpleQuota(document as never).policy : definePolicy(document as never)
    // The engine checks what the schema cannot: the width of rows, names that a store can distinguish, known time zones.
    engineOf(policy)
    return policy
  } catch (error) {
    if (!(error instanceof QuotaError)) throw error
    const faults = error.faults.length > 0 ? error.faults : [{ path: '', message: error.message }]
    throw new FaultyPolicy(path, { faults, cause: error })
  }
}

/** An in-memory engine of a policy. */
function engineOf(policy: Policy): SyncQuota {
  return createQuota({ policy, calendar: luxonCalendar() })
}

function isSimple(document: unknown): boolean {
  return typeof document === 'object' && document !== null && 'per' in document && !('base' in document)
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
    return 'TypeScript needs Node 22.18 or later; JSON.stringify(policy) works everywhere'
  }
  return code === 'ERR_MODULE_NOT_FOUND' ? 'run it where its packages are installed' : undefined
}
