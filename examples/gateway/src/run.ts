import { inspect } from 'node:util'
import { collectDefaultMetrics } from 'prom-client'
import { loadConfig } from './config/config.ts'
import { consoleFiles } from './console/console-pages.ts'
import { banner } from './demo/demo.ts'
import { startGateway } from './gateway.ts'
import { createLogger, type Logger } from './log/logger.ts'
import { ConfigError, StartError } from './start/start-error.ts'

/** EX_CONFIG of sysexits.h. */
const EXIT_CONFIG = 78
/**
 * How long idle connections stay open when the gateway stops, in milliseconds. This lets the last response announce the
 * close.
 */
const IDLE_GRACE_MS = 1_000

/**
 * Runs the gateway in this process, configured by its environment, until a signal stops it. If it can't start, the
 * process exits.
 */
export async function runGateway(): Promise<void> {
  try {
    await run()
  } catch (error) {
    const isConfig = error instanceof ConfigError || error instanceof StartError
    process.stderr.write(`${isConfig ? error.message : inspect(error)}\n`)
    process.exit(isConfig ? EXIT_CONFIG : 1)
  }
}

async function run(): Promise<void> {
  const config = loadConfig(process.env)
  const logger = createLogger(config.LOG_LEVEL)
  for (const each of config.misspelt) logger.warn(each)
  await prepareConsole(logger)
  const gateway = await startGateway(config, logger, { idleGraceMs: IDLE_GRACE_MS })
  // These belong to the process, so tests that start several gateways don't collect them.
  collectDefaultMetrics({ register: gateway.app.registry })
  process.stdout.write(banner(gateway.addresses, config.DATA_DIR, gateway.app.counters.name, gateway.demo))
  logger.info(gateway.addresses, 'started')

  let isStopping = false
  const stop = (signal: NodeJS.Signals): void => {
    if (isStopping) return
    isStopping = true
    logger.info({ signal }, 'stopping')
    gateway.stop().then(
      () => {
        logger.info('stopped')
        process.exit(0)
      },
      (error: unknown) => {
        logger.fatal({ err: error }, 'stopping failed')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

/** Builds the console before the first request for it. The gateway also runs without it. */
async function prepareConsole(logger: Logger): Promise<void> {
  try {
    await consoleFiles((line) => process.stdout.write(`${line}\n`))
  } catch (error) {
    logger.error({ err: error }, 'the console could not be built: /admin/ answers with an error')
  }
}
