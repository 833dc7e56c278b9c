import { type Addresses, addressesOf, type Ports } from './addresses.ts'
import type { Chore } from './chores.ts'
import { openDatabase } from './db/connect.ts'
import type { Logger } from './log/logger.ts'
import { createParts, type Parts, type PartsOptions } from './parts.ts'
import { chartsService, gatewayService, syncService } from './services.ts'
import { forgetRatingDays } from './sync/rating-days.ts'
import { forgetSnapshots } from './sync/snapshots.ts'

/** The three services without servers and timers. The caller listens on ports and runs the chores. */
export type App = Awaited<ReturnType<typeof createApp>>

/**
 * Assembles the gateway.
 *
 * @throws {ConfigError} if something that the configuration names must not be used
 */
export async function createApp(options: PartsOptions) {
  const { DATABASE_URL: databaseUrl, DATA_DIR: dataDir } = options.config
  const db = await openDatabase({ databaseUrl, dataDir })
  try {
    return appOf(await createParts(db, options))
  } catch (error) {
    await db.destroy()
    throw error
  }
}

function appOf(parts: Parts) {
  const { config, status, sources, live, metrics } = parts
  return {
    ...parts,
    handlers: { gateway: gatewayService(parts), sync: syncService(parts), charts: chartsService(parts) },
    /** The metrics of the process. */
    registry: metrics.registry,
    chores: choresOf(parts),
    /** Call it with the ports that the services got. @returns the URLs for clients */
    listening(ports: Ports): Addresses {
      status.addresses = addressesOf(config, ports)
      return status.addresses
    },
    /** Rejects requests with 503 from now on. */
    refuse() {
      status.isClosing = true
      live.end()
    },
    /** Refuses imports in flight that still wait for their source. Resolves when all have ended. */
    endImports: () => sources.close(),
    /** Saves what is counted in memory, and closes everything. */
    close: () => close(parts),
  }
}

function choresOf({ db, clock, quota, counters, idempotency, adaptive, usage, errors, tokens, uploads, live }: Parts) {
  const chores: readonly Chore[] = [
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
  ]
  return chores
}

async function close(parts: Parts): Promise<void> {
  const { logger, db, sources, overview, metrics, quota, counters, adaptive, usage, errors, tokens } = parts
  await inOrder(logger, {
    'ending imports': () => sources.close(),
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
