import type { Clock } from '@scoregw/quota'
import { type SettingsWrite, type SqlSettings, sqlSettings, type WatchOptions } from '@scoregw/quota-sql'
import { type Deed, writeDown } from '../audit/audit.ts'
import { COUNTERS, type Db } from '../db/schema.ts'
import { tableOf } from './names.ts'

/** How stores learn about other processes' changes in the database. */
export const WATCHING: WatchOptions = { prefix: COUNTERS, pollMs: 500 }

/** Quota settings in the database. Each change is recorded in the audit trail. */
export function settingsOn(db: Db, clock: Clock): SqlSettings {
  return sqlSettings({
    db,
    clock,
    ...WATCHING,
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

/** A stored document as the routes for administrators show it: limits as tables, and the site's switches. */
export function shownInAudit(stored: unknown): Readonly<Record<string, unknown>> {
  const { limits, custom, shared, bypass, shadow, plans, thresholds, plan, blocked, until, anchor, ...rest } =
    membersOf(stored)
  return {
    ...rest,
    ...(limits === undefined ? {} : tablesOf(membersOf(limits), bypass !== undefined)),
    ...(custom === undefined ? {} : { custom: custom && tableOf(membersOf(custom), undefined) }),
    ...membersOf(shared),
    ...(bypass === undefined ? {} : { bypassSite: membersOf(bypass).site === true }),
  }
}

function tablesOf(limits: Readonly<Record<string, unknown>>, isOfUser: boolean): object {
  const table = tableOf<unknown>(limits, isOfUser ? null : undefined)
  return isOfUser ? { overrides: table.personal } : { base: table }
}

function membersOf(document: unknown): Readonly<Record<string, unknown>> {
  return { ...(document as object) }
}
