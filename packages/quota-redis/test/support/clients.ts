import { createClient } from 'redis'
import { createClient as createNewestClient } from 'redis6'
import type { NodeRedisClient } from '../../src/connection/connection.ts'

/** Options of node-redis as a caller may have them, with all that a store must not take over. */
function options(port: number) {
  return {
    socket: { port, host: '127.0.0.1', reconnectStrategy: 50 },
    RESP: 3,
    commandsQueueMaxLength: 1,
    clientSideCache: {},
    commandOptions: { timeout: 1 },
  } as const
}

export function configuredNodeRedis(port: number): NodeRedisClient {
  return createClient(options(port))
}

/** The same of the newest version. */
export function newestNodeRedis(port: number): NodeRedisClient {
  return createNewestClient(options(port))
}
