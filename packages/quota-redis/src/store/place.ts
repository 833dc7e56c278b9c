import { isNodeRedis, type RedisClient } from '../connection/connection.ts'

/** The options of both clients that identify their server. */
interface Given {
  readonly host?: string
  readonly port?: number
  readonly path?: string
  readonly db?: number
  readonly name?: string | null
  readonly sentinels?: readonly { readonly host?: string; readonly port?: number }[] | null
  readonly url?: string
  readonly database?: number
  readonly socket?: { readonly host?: string; readonly port?: number; readonly path?: string }
}

/**
 * A store's server, database and prefix as text without credentials. It is equal for stores that share counters.
 *
 * @returns `undefined` for a cluster, whose nodes are unknown before it is connected
 */
export function placeOf(client: RedisClient, prefix: string): string | undefined {
  if ('isCluster' in client && client.isCluster) return undefined
  const given = Object(client.options) as Given
  const server = isNodeRedis(client) ? nodeRedisServer(given) : ioredisServer(given)
  return `redis ${server} ${prefix}`
}

function ioredisServer({ host = 'localhost', port = 6379, path, db = 0, name, sentinels }: Given): string {
  const byName = sentinels?.map((each) => `${each.host}:${each.port}`).join()
  return `${byName ? `${byName} ${name}` : (path ?? `${host}:${port}`)} ${db}`
}

function nodeRedisServer({ url, socket = {}, database }: Given): string {
  const { hostname, port, pathname } = url !== undefined && URL.canParse(url) ? new URL(url) : {}
  const host = socket.host ?? (hostname || 'localhost')
  return `${socket.path ?? `${host}:${socket.port ?? (port || 6379)}`} ${database ?? (pathname?.slice(1) || 0)}`
}
