import { QuotaError } from '../../errors/quota-error.ts'
import type { Versioned } from '../../policy/settings.ts'
import { type Answer, boxed } from '../../store/quota-store.ts'
import type { StoredDocument, StoreWriteOptions, WriteReply } from '../../store/settings-store.ts'
import { MAX_WRITES } from '../retries.ts'

/** How a change is written. */
export interface WriteOptions {
  /** The write happens only if this is the version now stored; absent: whatever is stored. */
  readonly ifVersion?: number | undefined
  /** The same by the revision, which distinguishes two documents even after a store lost its data. */
  readonly ifRevision?: string | undefined
  /** Who changes it, for stores that keep an audit trail. */
  readonly by?: string | undefined
}

/** One document of a settings store, and how a policy reads it. */
export interface Document<T> {
  readonly sync: boolean
  read(): Answer<StoredDocument | undefined>
  write(document: unknown, options: StoreWriteOptions): Answer<WriteReply>
  /** The settings that a stored document comes to. */
  fitted(stored: StoredDocument | undefined): T & Versioned
}

/** The result of a change: the settings after it, and the document to store; both `null`: they are removed. */
export interface Change<N> {
  readonly next: N
  readonly document: object | null
}

/**
 * Writes what `change` makes of a document; again where another writer came in between, unless the caller named what must
 * be stored.
 *
 * @throws {QuotaError} `settings_conflict`; what `change` throws
 */
export async function writeDocument<T, N>(
  of: Document<T>,
  { ifVersion, ifRevision, by }: WriteOptions,
  change: (current: T, stored: unknown) => Change<N>,
): Promise<Versioned & Change<N>> {
  for (let tries = 1; ; tries++) {
    const { value: stored } = await boxed(of, of.read())
    const { version, revision, ...current } = of.fitted(stored)
    const isStored = (ifVersion ?? version) === version && (ifRevision ?? revision) === revision
    if (!isStored) throw conflict({ version: ifVersion ?? version, revision: ifRevision ?? '' }, { version, revision })
    const changed = change(current as T, stored?.document)
    const document = structuredClone(changed.document)
    const { value: reply } = await boxed(of, of.write(document, { ifRevision: revision, by }))
    if (reply.written) return { next: changed.next, document, version: reply.version, revision: reply.revision }
    if (tries === MAX_WRITES) throw conflict({ version, revision }, reply)
  }
}

function conflict(expected: Versioned, stored: Versioned): QuotaError {
  const what = expected.version === stored.version ? 'but others than expected' : `not at ${expected.version}`
  const message = `the settings are at version ${stored.version}, ${what}: read them again and decide anew`
  return new QuotaError('settings_conflict', message)
}
