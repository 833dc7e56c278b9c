import type { RequestListener } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import type { Clock } from '@scoregw/quota'
import { systemClock } from '@scoregw/quota/store'
import type { Addresses, Ports } from './addresses.ts'
import { type App, createApp } from './app.ts'
import { type Repeated, repeat } from './chores.ts'
import type { Config } from './config/config.ts'
import { lockDataDir } from './db/data-dir-lock.ts'
import { type DemoCredentials, ensureDemo, removeDemo } from './demo/demo.ts'
import { type Listener, listen } from './http/listener.ts'
import type { Logger } from './log/logger.ts'
import { metricsHandler } from './metrics/metrics.ts'
import { dataDirFault, openToOthers } from './start/data-dir.ts'
import { codesOf, StartError } from './start/start-error.ts'

/** How long requests in flight may take when the gateway stops, in milliseconds. */
const STOP_GRACE_MS = 8_000
/** How long imports may take of it. Those that still wait for their source are then refused, and cost nothing. */
const IMPORT_GRACE_MS = 6_500
/** How long the whole stop may take: a database that doesn't answer must not keep the process for longer. */
const STOP_MS = 9_500

/** A running gateway. */
export interface Gateway {
  readonly app: App
  /** The ports of the services. */
  readonly ports: Ports
  readonly metricsPort: number | undefined
  /** The URLs of the services for clients. */
  readonly addresses: Addresses
  readonly demo: DemoCredentials | undefined
  /** Stops within 10 s: requests in flight end, tokens are settled, counters are saved. */
  stop(): Promise<void>
}

export interface GatewayOptions {
  /** @default the machine's */
  readonly clock?: Clock | undefined
  /**
   * How long idle connections stay open when the gateway stops, in milliseconds. A request on one is answered with
   * `Connection: close`.
   *
   * @default 0
   */
  readonly idleGraceMs?: number | undefined
  /**
   * How long imports may wait for their source when the gateway stops, in milliseconds.
   *
   * @default 6500
   */
  readonly importGraceMs?: number | undefined
}

/** Starts the gateway: database, demo, servers and timers. */
export async function startGateway(config: Config, logger: Logger, options: GatewayOptions = {}): Promise<Gateway> {
  const { clock = systemClock, ...graces } = options
  const isEmbedded = config.DATABASE_URL === undefined
  const unlock = isEmbedded ? lockDataDir(config.DATA_DIR, config.DATA_DIR_SHARED) : () => undefined
  const app = await createApp({ config, clock, logger }).catch((error: unknown) => {
    unlock()
    throw dataDirFault(config.DATA_DIR, error)
  })
  const listeners: Listener[] = []
  try {
    const demo = await demoOf(config, app).catch((error: unknown) => {
      throw dataDirFault(config.DATA_DIR, error)
    })
    if (config.DATABASE_URL === undefined || demo !== undefined) warnOfReaders(config.DATA_DIR, logger)
    const { MAX_CONNECTIONS: maxConnections, METRICS_PORT } = config
    const serve = async (variable: string, handler: RequestListener, port: number): Promise<number> => {
      const listener = await listen(handler, config.HOST, port, { maxConnections }).catch((error: unknown) => {
        throw notListening(variable, port, config.HOST, error)
      })
      listeners.push(listener)
      return listener.port
    }
    const { handlers, registry } = app
    const ports: Ports = {
      sync: await serve('SYNC_PORT', handlers.sync, config.SYNC_PORT),
      charts: await serve('CHARTS_PORT', handlers.charts, config.CHARTS_PORT),
      gateway: await serve('PORT', handlers.gateway, config.PORT),
    }
    const metricsPort =
      METRICS_PORT === undefined ? undefined : await serve('METRICS_PORT', metricsHandler(registry), METRICS_PORT)
    const addresses = app.listening(ports)
    const chores = app.chores.map((chore) => repeat(chore, logger))
    return {
      app,
      ports,
      metricsPort,
      addresses,
      demo,
      stop: () => stop({ app, listeners, chores, logger }, graces).finally(unlock),
    }
  } catch (error) {
    await Promise.all(listeners.map((listener) => listener.stop(0)))
    await app.close()
    unlock()
    throw error
  }
}

/** Warns if others can read the folder: backups and other files in it may contain secrets. */
function warnOfReaders(dataDir: string, logger: Logger): void {
  const warning = openToOthers(dataDir)
  if (warning !== undefined) logger.warn(warning)
}

const NO_ADDRESS = ['HOST', 'is no address of this machine; name one, or 0.0.0.0 for all'] as const
/** Why a service can't listen: the variable to blame, and the fix. */
const NOT_LISTENING: Readonly<Record<string, readonly ['HOST' | 'port', string]>> = {
  EADDRINUSE: ['port', 'something listens there already; stop it, or name another port'],
  EACCES: ['port', 'this user may not listen there; name a port above 1023'],
  EADDRNOTAVAIL: NO_ADDRESS,
  ENOTFOUND: NO_ADDRESS,
  EAI_AGAIN: NO_ADDRESS,
}

function notListening(variable: string, port: number, host: string, error: unknown): unknown {
  const [blamed, fault] = NOT_LISTENING[codesOf(error)[0] ?? ''] ?? []
  if (fault === undefined) return error
  return new StartError(blamed === 'HOST' ? `HOST=${host}` : `${variable}=${port}`, fault, error)
}

/** There is no demo in production. */
async function demoOf(config: Config, app: App): Promise<DemoCredentials | undefined> {
  if (config.NODE_ENV !== 'production') return ensureDemo(app)
  await removeDemo(app)
  return undefined
}

interface Running {
  readonly app: App
  readonly listeners: readonly Listener[]
  readonly chores: readonly Repeated[]
  readonly logger: Logger
}

/** Stops within 10 s, whatever doesn't answer. */
async function stop(running: Running, graces: Omit<GatewayOptions, 'clock'>): Promise<void> {
  const late = new AbortController()
  const isLate = setTimeout(STOP_MS, true, { signal: late.signal }).catch(() => false)
  const isClosed = close(running, graces).then(() => false)
  if (await Promise.race([isClosed, isLate])) running.logger.error('stopped without closing what does not answer')
  late.abort()
}

async function close({ app, listeners, chores }: Running, graces: Omit<GatewayOptions, 'clock'>): Promise<void> {
  const { idleGraceMs = 0, importGraceMs = IMPORT_GRACE_MS } = graces
  const answered = new AbortController()
  const after = (ms: number, act: () => unknown) =>
    setTimeout(ms, undefined, { signal: answered.signal }).then(act, () => undefined)
  // Until then requests are served: a proxy may have sent one on a connection that was accepted just before.
  after(idleGraceMs, app.refuse)
  after(importGraceMs, app.endImports)
  await Promise.all(listeners.map((listener) => listener.stop(STOP_GRACE_MS, idleGraceMs)))
  answered.abort()
  await Promise.all(chores.map((chore) => chore.stop()))
  await app.close()
}
