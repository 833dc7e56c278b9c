import { createClient } from 'redis'
import type { NodeRedisClient } from '../../src/connection/connection.ts'

/** A client of node-redis as a caller may have it, with all that a store must not take over. */
export function configuredNodeRedis(port: number): NodeRedisClient {
  return createClient({
    socket: { port, host: '127.0.0.1', reconnectStrategy: 50 },
    RESP: 3,
    commandsQueueMaxLength: 1,
    clientSideCache: {},
    commandOptions: { timeout: 1 },
  })
}
