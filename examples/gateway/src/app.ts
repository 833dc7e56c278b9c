import type { RequestListener } from 'node:http'
import { type Clock, createQuota } from '@scoregw/quota'
import type { Registry } from 'prom-client'
import { type AdaptiveMode, adaptiveMode } from './adaptive/adaptive-mode.ts'
import { type Addresses, addressesOf, type Ports } from './addresses.ts'
import { AuditLog } from './audit/audit.ts'
import { ChartRepository } from './charts/chart-repository.ts'
import { SAMPLE_CHARTS } from './charts/sample-charts.ts'
import type { Chore } from './chores.ts'
import type { Config } from './config/config.ts'
import { Tokens } from './credentials/tokens.ts'
import { openDatabase } from './db/connect.ts'
import type { Db } from './db/schema.ts'
import { checksOf } from './health/health.ts'
import { Idempotency } from './idempotency/idempotency.ts'
import type { Logger } from './log/logger.ts'
import { gatewayMetrics } from './metrics/metrics.ts'
import { LiveOverview } from './overview/live-overview.ts'
import { Overview } from './overview/overview.ts'
import { type Counters, countersOf } from './quota/counters.ts'
import { type GatewayQuota, policy } from './quota/policy.ts'
import { ScoreService } from './scores/score-service.ts'
import { chartsService, gatewayService, type Parts, syncService } from './services.ts'
import { createSources } from './sources/sources.ts'
import { forgetRatingDays } from './sync/rating-days.ts'
import { forgetSnapshots } from './sync/snapshots.ts'
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

export interface AppOptions {
  readonly config: Config
  readonly clock: Clock
  readonly logger: Logger
}

/** The three services without servers and timers. The caller listens on ports and runs the chores. */
export interface App {
  readonly handlers: Readonly<Record<keyof Ports, RequestListener>>
  readonly quota: GatewayQuota
  readonly users: UserRepository
  readonly tokens: Tokens
  readonly scores: ScoreService
  readonly db: Db
  readonly clock: Clock
  /** The metrics of the process. */
  readonly registry: Registry
  /** Where the counters are, for people. */
  readonly counters: string
  readonly chores: readonly Chore[]
  /** Call it with the ports that the services got. @returns the URLs for clients */
  listening(ports: Ports): Addresses
  /** Rejects requests with 503 from now on. */
  refuse(): void
  /** Refuses imports in flight that still wait for their source. Resolves when all have ended. */
  endImports(): Promise<void>
  /** Saves the counters and closes everything. */
  close(): Promise<void>
}

/** The most faults of a stored document that are logged one by one. */
const MAX_LOGGED = 20

/**
 * Assembles the gateway.
 *
 * @throws {ConfigError} if something that the configuration names must not be used
 */
export async function createApp(options: AppOptions): Promise<App> {
  const db = await openDatabase(options.config)
  try {
    return await appOn(db, options)
  } catch (error) {
    await db.destroy()
    throw error
  }
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a list: each part once, in the order in which they need each other
async function appOn(db: Db, { config, clock, logger }: AppOptions): Promise<App> {
  const users = new UserRepository(db, clock)
  const audit = new AuditLog(db, clock)
  const tokens = new Tokens({ db, clock, audit })
  const charts = new ChartRepository(db)
  await charts.addMissing(SAMPLE_CHARTS)
  const scores = new ScoreService(db, charts, clock)
  const idempotency = new Idempotency(db, clock)

  const sources = createSources({ db, clock, logger, scores, ...config.sources, random: Math.random })

  const counters = countersOf(config, { db, clock, logger })
  const adaptive = adaptiveMode(db, clock)
  const quota = await quotaOf(counters, adaptive, config, { clock, logger })

  const usageRecords = new UsageRecords(db)
  const usage = { records: usageRecords, recorder: new UsageRecorder(usageRecords, clock) }

  const errors = new ErrorCounts(db, clock)
  const metrics = gatewayMetrics(quota, usage.recorder)
  const uploads = new UploadService({ db, clock, quota, recorder: usage.recorder })
  const overview = new Overview({ quota, clock, ...adaptive })
  const live = new LiveOverview(() => overview.read(), clock)

  let isClosing = false
  let addresses = addressesOf(config, { gateway: config.port, sync: config.syncPort, charts: config.chartsPort })
  const parts: Parts = {
    config,
    clock,
    logger,
    db,
    adaptive,
    metrics,
    usage,
    errors,
    overview,
    live,
    uploads,
    checks: checksOf(db, counters.watch, config.dataDir, clock),
    users,
    audit,
    tokens,
    charts,
    scores,
    idempotency,
    sources,
    sync: new SyncService(db, clock),
    quota,
    inTransaction: counters.inTransaction,
    isClosing: () => isClosing,
    addresses: () => addresses,
  }
  return {
    handlers: { gateway: gatewayService(parts), sync: syncService(parts), charts: chartsService(parts) },
    quota,
    users,
    scores,
    db,
    clock,
    tokens,
    registry: metrics.registry,
    counters: counters.name,
    chores: [
      ...counters.chores,
      idempotency.chore,
      forgetSnapshots(db, clock),
      forgetRatingDays(db, clock),
      adaptive.choreFor(quota),
      ...usage.recorder.chores(),
      errors.chore,
      tokens.chore,
      uploads.chore,
      live.chore,
    ],
    listening(ports) {
      addresses = addressesOf(config, ports)
      return addresses
    },
    refuse() {
      isClosing = true
      live.end()
    },
    endImports: () => sources.imports.close(),
    async close() {
      await inOrder(logger, {
        'ending imports': () => sources.imports.close(),
        'ending the overview': () => overview.close(),
        'ending metrics': () => metrics.close(),
        'ending the quota': () => quota.close(),
        'leaving the counters': () => counters.close(),
        'saving how requests ended': () => adaptive.close(),
        'saving who used what': () => usage.recorder.close(),
        'saving counts of errors': () => errors.flush(),
        'saving uses of tokens': () => tokens.flush(),
        'closing the database': () => db.destroy(),
      })
    },
  }
}

/** Runs all steps, even if earlier ones fail. Logs each failure. */
async function inOrder(logger: Logger, steps: Readonly<Record<string, () => unknown>>): Promise<void> {
  for (const [what, step] of Object.entries(steps)) {
    try {
      await step()
    } catch (error) {
      logger.error({ reason: error instanceof Error ? error.message : String(error) }, `${what} failed while stopping`)
    }
  }
}

async function quotaOf(
  counters: Counters,
  { factorStore: factor }: AdaptiveMode,
  { failurePolicy }: Config,
  { clock, logger }: Pick<AppOptions, 'clock' | 'logger'>,
): Promise<GatewayQuota> {
  const { store, settings: settingsStore } = counters
  const deadlineMs = SETTINGS_DEADLINE_MS
  const quota = createQuota({
    policy,
    store,
    settingsStore,
    failurePolicy,
    clock,
    deadlineMs,
    adaptive: { factor },
    logger,
  })
  quota.on('settingsFault', ({ of, faults }) => {
    const first = faults.slice(0, MAX_LOGGED)
    logger.warn({ of, faults: first, count: faults.length }, 'some of the stored settings is not in force')
  })
  try {
    await counters.begin()
    await quota.ready()
    return quota
  } catch (error) {
    await quota.close()
    await counters.close()
    throw error
  }
}
