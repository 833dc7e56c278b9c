import type { Clock } from '@scoregw/quota'
import {
  type ListenPool,
  type SettingsWrite,
  type SqlSettings,
  sqlSettings,
  type WatchOptions,
} from '@scoregw/quota-sql'
import { type Deed, writeDown } from '../audit/audit-log.ts'
import { COUNTERS } from '../db/migrations/0010-counters.ts'
import type { Db } from '../db/schema.ts'

/** How often the database is polled for other processes' changes, since an announcement may be lost. */
const POLL_MS = 500

/** How stores hear of what other processes changed in the database. */
export function watching(listen: ListenPool | undefined): WatchOptions {
  return { prefix: COUNTERS, pollMs: POLL_MS, listen }
}

/** Quota settings in the database; each change is written down with what administrators did. */
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

/** As a text column can hold it: no user's id has the replaced characters. */
function legible(key: string): string {
  return key.toWellFormed().replaceAll('\0', '\uFFFD')
}

function recordOf(document: unknown): object | null {
  return typeof document === 'object' ? document : { document }
}
