import { type Clock, systemClock } from '@scoregw/quota'
import { type App, createApp } from './app.ts'
import { type Repeated, repeat } from './chores.ts'
import type { Config } from './config/config.ts'
import { type DemoCredentials, ensureDemo, removeDemo } from './demo/demo.ts'
import { type Listener, listen } from './http/listener.ts'
import type { Logger } from './log/logger.ts'

/** How long requests in flight may take to end when the gateway stops; the rest of 10 s is for closing. */
const STOP_GRACE_MS = 8_000

/** A gateway that serves. */
export interface Gateway {
  readonly app: App
  readonly port: number
  /** The address clients use. */
  readonly baseUrl: string
  readonly demo: DemoCredentials | undefined
  /** Stops within 10 s: requests in flight end, tokens are settled, counters are saved. */
  stop(): Promise<void>
}

/** Starts the gateway: database, demo, server, timers. */
export async function startGateway(config: Config, logger: Logger, clock: Clock = systemClock): Promise<Gateway> {
  const app = await createApp({ config, clock, logger })
  try {
    const demo = await demoOf(config, app)
    const listener = await listen(app.handler, config.host, config.port)
    const chores = app.chores.map((chore) => repeat(chore, logger))
    const baseUrl = config.publicBaseUrl ?? `http://${hostOf(config.host)}:${listener.port}`
    return { app, port: listener.port, baseUrl, demo, stop: () => stop(app, listener, chores) }
  } catch (error) {
    await app.close()
    throw error
  }
}

async function demoOf({ demo: given, dataDir }: Config, { users, scores }: App): Promise<DemoCredentials | undefined> {
  if (given !== undefined) return ensureDemo({ users, scores, dataDir, given })
  await removeDemo(users)
  return undefined
}

async function stop(app: App, listener: Listener, chores: readonly Repeated[]): Promise<void> {
  app.refuse()
  await listener.stop(STOP_GRACE_MS)
  await Promise.all(chores.map((chore) => chore.stop()))
  await app.close()
}

/** An address for people: one that stands for every interface is reached on this machine's own. */
function hostOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
