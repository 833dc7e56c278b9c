import type { Clock } from '@scoregw/quota'
import {
  type ListenPool,
  type SettingsWrite,
  type SqlSettings,
  sqlSettings,
  type WatchOptions,
} from '@scoregw/quota-sql'
import { type AuditAction, type Deed, writeDown } from '../audit/audit-log.ts'
import { COUNTERS, type Db } from '../db/schema.ts'
import { instantText } from '../http/instant.ts'
import { bypassMember } from './layer-members.ts'

/** How often the database is polled for changes of other processes, because announcements can be lost. */
const POLL_MS = 500

/** How stores learn about other processes' changes in the database. */
export function watching(listen: ListenPool | undefined): WatchOptions {
  return { prefix: COUNTERS, pollMs: POLL_MS, listen }
}

/** Quota settings in the database. Each change is recorded in the audit trail. */
export function settingsOn(db: Db, clock: Clock, changes?: ListenPool): SqlSettings {
  return sqlSettings({
    db,
    clock,
    ...watching(changes),
    onWrite: (transaction, write) => writeDown(transaction, clock, write.by, [deedOf(write)]),
  })
}

function deedOf({ subject, before, after }: SettingsWrite): Deed {
  const documents = { before: recordOf(before), after: recordOf(after) }
  return subject === undefined
    ? { action: 'settings.change', ...documents }
    : { action: 'user-quota.change', subject: legible(subject.key), ...documents }
}

/** Replaces characters that a text column can't store. No user id contains them. */
function legible(key: string): string {
  return key.toWellFormed().replaceAll('\0', '\uFFFD')
}

function recordOf(document: unknown): object | null {
  return typeof document === 'object' ? document : { document }
}

type Document = Readonly<Record<string, unknown>>

/**
 * Returns a function that converts documents of the audit trail. Quotas are stored in the library's form, and shown in
 * the form that administrators send.
 *
 * @param shared the layers that are shared now
 */
export function shownInAudit(shared: readonly string[]): (action: AuditAction, stored: unknown) => Document {
  return (action, stored) => {
    if (action === 'settings.change') return shownSettings(stored)
    if (action === 'user-quota.change') return shownUserQuota(stored, shared)
    return stored as Document
  }
}

/**
 * Converts stored settings of this or another policy to the form that administrators know. It doesn't validate them, so
 * even invalid ones are shown.
 */
function shownSettings(stored: unknown): Document {
  const { layers, ...rest } = membersOf(stored)
  const { prices, ...others } = rest
  return { ...others, ...membersOf(layers), ...(prices === undefined ? {} : { prices }) }
}

/**
 * Converts one user's stored settings.
 *
 * @param shared the layers that are shared now; the document may name others
 */
function shownUserQuota(stored: unknown, shared: readonly string[]): Document {
  const { bypass, until, ...rest } = membersOf(stored)
  const bypassed = Array.isArray(bypass) ? bypass.map(String) : []
  const layers = [...new Set([...shared, ...bypassed])]
  const ends = until === undefined ? {} : { until: shownEnds(until) }
  return {
    ...rest,
    ...ends,
    ...Object.fromEntries(layers.map((layer) => [bypassMember(layer), bypassed.includes(layer)])),
  }
}

function membersOf(stored: unknown): Document {
  if (typeof stored === 'object' && stored !== null && !Array.isArray(stored)) return { ...stored }
  return stored === undefined ? {} : { document: stored }
}

/** Converts stored numbers to times as text. */
function shownEnds(until: unknown): unknown {
  if (typeof until !== 'object' || until === null) return until
  const isInstant = (value: unknown): value is number =>
    Number.isSafeInteger(value) && Math.abs(Number(value)) <= 8.64e15
  return Object.fromEntries(
    Object.entries(until).map(([part, value]) => [part, isInstant(value) ? instantText(value) : value]),
  )
}
