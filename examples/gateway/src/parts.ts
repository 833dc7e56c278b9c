import { type Clock, createQuota } from '@scoregw/quota'
import { adaptiveMode } from './adaptive/adaptive.ts'
import { addressesOf } from './addresses.ts'
import { AuditLog } from './audit/audit.ts'
import { ChartRepository } from './charts/chart-repository.ts'
import { SAMPLE_CHARTS } from './charts/sample-charts.ts'
import type { Config } from './config/config.ts'
import { Tokens } from './credentials/tokens.ts'
import type { Db } from './db/schema.ts'
import { checksOf } from './health/health.ts'
import { Idempotency } from './idempotency/idempotency.ts'
import type { Logger } from './log/logger.ts'
import { gatewayMetrics } from './metrics/metrics.ts'
import { LiveOverview } from './overview/live-overview.ts'
import { Overview } from './overview/overview.ts'
import { countersOf } from './quota/counters.ts'
import { policy } from './quota/policy.ts'
import { ScoreService } from './scores/score-service.ts'
import { Sources } from './sources/sources.ts'
import { SyncService } from './sync/sync-service.ts'
import { UploadService } from './uploads/upload-service.ts'
import { ErrorCounts } from './usage/error-counts.ts'
import { UsageRecorder } from './usage/usage-recorder.ts'
import { UsageRecords } from './usage/usage-records.ts'
import { UserRepository } from './users/user-repository.ts'

/**
 * How long a decision waits for settings from the database, in milliseconds. Requests of a burst queue for connections.
 * Counters in Redis have a shorter deadline of their own.
 */
const SETTINGS_DEADLINE_MS = 1_000

/** The most faults of a stored document that are logged one by one. */
const MAX_LOGGED = 20

export interface PartsOptions {
  readonly config: Config
  readonly clock: Clock
  readonly logger: Logger
}

/** What the services are made of. */
export type Parts = Awaited<ReturnType<typeof createParts>>

/** Makes each part once, in the order in which they need each other. */
export async function createParts(db: Db, { config, clock, logger }: PartsOptions) {
  const audit = new AuditLog(db, clock)
  const charts = new ChartRepository(db)
  await charts.addMissing(SAMPLE_CHARTS)
  const scores = new ScoreService(db, charts, clock)
  const counters = countersOf({ config, db, clock, logger })
  const adaptive = adaptiveMode(db, clock)
  const quota = createQuota({
    ...{ policy, clock, logger },
    store: counters.store,
    settingsStore: counters.settings,
    failurePolicy: config.failurePolicy,
    deadlineMs: SETTINGS_DEADLINE_MS,
    adaptive: { factor: adaptive.factorStore },
  })
  quota.on('settingsFault', ({ of, faults }) => {
    const first = faults.slice(0, MAX_LOGGED)
    logger.warn({ of, faults: first, count: faults.length }, 'some of the stored settings is not in force')
  })
  try {
    await counters.begin()
    await quota.ready()
  } catch (error) {
    await quota.close()
    await counters.close()
    throw error
  }
  const records = new UsageRecords(db)
  const recorder = new UsageRecorder(records, clock)
  const overview = new Overview({ quota, clock, ...adaptive })
  return {
    ...{ config, clock, logger, db, audit, charts, scores, counters, adaptive, quota, overview },
    usage: { records, recorder },
    users: new UserRepository(db, clock),
    tokens: new Tokens({ db, clock, audit }),
    idempotency: new Idempotency(db, clock),
    sources: new Sources({ db, clock, logger, scores, config }),
    sync: new SyncService(db, clock),
    uploads: new UploadService({ db, clock, quota, recorder }),
    errors: new ErrorCounts(db, clock),
    metrics: gatewayMetrics(quota, recorder),
    checks: checksOf(db, clock, counters.watch, config.DATA_DIR),
    live: new LiveOverview(() => overview.read(), clock),
    /** Read it each time: the addresses may change until all services listen. */
    status: {
      isClosing: false,
      addresses: addressesOf(config, { gateway: config.PORT, sync: config.SYNC_PORT, charts: config.CHARTS_PORT }),
    },
  }
}
