import { type Migration, type MigrationProvider, Migrator } from 'kysely'
import { StartError } from '../../start/start-error.ts'
import type { Db } from '../schema.ts'
import { first } from './0001-first.ts'
import { players } from './0002-players.ts'
import { sources } from './0003-sources.ts'
import { ticketsItemsGates } from './0004-tickets-items-gates.ts'
import { credentialsAndAudit } from './0005-credentials-and-audit.ts'
import { sync } from './0006-sync.ts'
import { usage } from './0007-usage.ts'
import { chartFacts } from './0008-charts.ts'
import { settingsRevisions } from './0009-settings-revisions.ts'
import { counters } from './0010-counters.ts'
import { usageRecords } from './0011-usage-records.ts'
import { alerts } from './0012-alerts.ts'
import { settingsBesideCounters } from './0013-settings-beside-counters.ts'
import { syncRatings } from './0014-sync-ratings.ts'
import { auditByAction } from './0015-audit-by-action.ts'
import { uploadSessions } from './0016-upload-sessions.ts'
import { refusedRecords } from './0018-refused-records.ts'
import { disabledUsers } from './0019-disabled-users.ts'

/**
 * In the order of their names, written with types that SQLite and PostgreSQL share. Never change a migration after its
 * release.
 */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-first': { up: first },
  '0002-players': { up: players },
  '0003-sources': { up: sources },
  '0004-tickets-items-gates': { up: ticketsItemsGates },
  '0005-credentials-and-audit': { up: credentialsAndAudit },
  '0006-sync': { up: sync },
  '0007-usage': { up: usage },
  '0008-charts': { up: chartFacts },
  '0009-settings-revisions': { up: settingsRevisions },
  '0010-counters': { up: counters },
  '0011-usage-records': { up: usageRecords },
  '0012-alerts': { up: alerts },
  '0013-settings-beside-counters': { up: settingsBesideCounters },
  '0014-sync-ratings': { up: syncRatings },
  '0015-audit-by-action': { up: auditByAction },
  '0016-upload-sessions': { up: uploadSessions },
  '0018-refused-records': { up: refusedRecords },
  '0019-disabled-users': { up: disabledUsers },
}

const provider: MigrationProvider = { getMigrations: async () => ({ ...MIGRATIONS }) }

export interface MigrateOptions {
  /** Whether the caller has begun a transaction with exclusive access to the database. */
  readonly isInTransaction: boolean
}

/** Upgrades the database to the newest schema, all of it or nothing. */
export async function migrate(db: Db, { isInTransaction }: MigrateOptions): Promise<void> {
  const migrator = new Migrator({ db, provider, disableTransactions: isInTransaction })
  const { error } = await migrator.migrateToLatest()
  if (error instanceof Error && /previously executed migration/.test(error.message)) {
    const mend = 'was changed by a newer version of the gateway; run that one, or restore a backup from before'
    throw new StartError('the database', mend, error)
  }
  if (error !== undefined) throw new Error('the database could not be migrated', { cause: error })
}
