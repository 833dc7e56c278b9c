import { QuotaError } from '../../errors/quota-error.ts'
import type { Versioned } from '../../policy/settings.ts'

/** Tries of a write without `ifVersion` when other writers come in between. */
export const MAX_TRIES = 10

/** How a change is written. */
export interface WriteOptions {
  /** The write happens only if this is the version now stored; absent: whatever is stored. */
  readonly ifVersion?: number | undefined
  /** The same by the revision, which tells two documents apart also after a store lost its data. */
  readonly ifRevision?: string | undefined
  /** Who changes it, for stores that keep an audit trail. */
  readonly by?: string | undefined
}

export function versionOf({ version, revision }: Versioned): Versioned {
  return { version, revision }
}

/** @throws {QuotaError} `settings_conflict` where something else is stored than the caller expects */
export function checkVersion({ ifVersion, ifRevision }: WriteOptions, stored: Versioned): void {
  const isStored =
    (ifVersion === undefined || ifVersion === stored.version) &&
    (ifRevision === undefined || ifRevision === stored.revision)
  if (!isStored) throw conflict({ version: ifVersion ?? stored.version, revision: ifRevision ?? '' }, stored)
}

export function conflict(expected: Versioned, stored: Versioned): QuotaError {
  const what = expected.version === stored.version ? 'but others than expected' : `not at ${expected.version}`
  const message = `the settings are at version ${stored.version}, ${what}: read them again and decide anew`
  return new QuotaError('settings_conflict', message)
}
