import { type Migration, type MigrationProvider, Migrator, sql } from 'kysely'
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
import { countersAsNumbers } from './0017-counters-as-numbers.ts'
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
  '0017-counters-as-numbers': { up: countersAsNumbers },
  '0018-refused-records': { up: refusedRecords },
  '0019-disabled-users': { up: disabledUsers },
}

const provider: MigrationProvider = { getMigrations: async () => ({ ...MIGRATIONS }) }

/** Reports what an upgrade is about to lose. */
export type Announce = (message: string) => void

export interface MigrateOptions {
  /** Whether the caller has begun a transaction with exclusive access to the database. */
  readonly isInTransaction: boolean
  /** @default nothing is reported */
  readonly announce?: Announce | undefined
}

/** Upgrades the database to the newest schema, all of it or nothing. */
export async function migrate(db: Db, { isInTransaction, announce }: MigrateOptions): Promise<void> {
  const migrator = new Migrator({ db, provider, disableTransactions: isInTransaction })
  if (announce !== undefined) await announceLoss(db, migrator, announce)
  const { error } = await migrator.migrateToLatest()
  if (error instanceof Error && /previously executed migration/.test(error.message)) {
    const mend = 'was changed by a newer version of the gateway; run that one, or restore a backup from before'
    throw new StartError('the database', mend, error)
  }
  if (error !== undefined) throw new Error('the database could not be migrated', { cause: error })
}

/** The migration that restarts the counters. All later ones keep them. */
const COUNTERS_BEGIN_AGAIN = '0017-counters-as-numbers'

async function announceLoss(db: Db, migrator: Migrator, announce: Announce): Promise<void> {
  const executed = (await migrator.getMigrations()).filter(({ executedAt }) => executedAt !== undefined)
  const hasCounters = executed.some(({ name }) => name === '0010-counters')
  if (!hasCounters || executed.some(({ name }) => name === COUNTERS_BEGIN_AGAIN)) return
  const { rows } = await sql<{ count: number | bigint }>`select count(*) as count from counter_rows`.execute(db)
  const count = Number(rows[0]?.count ?? 0)
  if (count === 0) return
  announce(
    `this upgrade cannot carry on ${count} counters of the version before: what was used begins at 0 again, and uploads ` +
      'in parts that are open have to be sent again (docs/gateway/upgrades.md)',
  )
}
