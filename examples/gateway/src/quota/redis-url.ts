import * as z from 'zod'

const DEFAULT_PORT = '6379'

/** Nodes of a cluster, `host:port` each; `[::1]:port` for IPv6. */
const NODES = /^(?:[\w.-]+|\[[\da-f:.]+\]):\d{1,5}(?:,(?:[\w.-]+|\[[\da-f:.]+\]):\d{1,5})*$/i

function isRedisUrl(text: string): boolean {
  const [one, nodes] = splitNodes(text)
  if (!URL.canParse(one)) return false
  const { protocol, hostname, pathname, search, hash, username, password } = new URL(one)
  const isPlain = search === '' && hash === '' && /^\/?\d{0,5}$/.test(pathname)
  // A user without a password is most likely a password without its colon.
  const hasCredentialsInFull = username === '' || password !== ''
  const isServer = ['redis:', 'rediss:'].includes(protocol) && hostname !== ''
  // A cluster has no numbered databases.
  const areNodes = nodes === undefined || (NODES.test(nodes) && pathname.length <= 1)
  return isServer && isPlain && hasCredentialsInFull && areNodes && isDecodable(username) && isDecodable(password)
}

/** Splits a cluster URL into the URL of its first node and the list of all. Returns any other URL unchanged. */
function splitNodes(text: string): readonly [one: string, nodes?: string] {
  const [, secure, credentials = '', nodes] = /^redis(s?)\+cluster:\/\/([^/]*@)?([^/@]*)\/?$/.exec(text) ?? []
  if (nodes === undefined) return [text]
  return [`redis${secure}://${credentials}${nodes.split(',', 1)[0]}`, nodes]
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/**
 * The URL of a Redis or Valkey: `redis://user:password@host:port/database`, or `rediss://` for TLS. For a cluster, name
 * some nodes: `redis+cluster://user:password@host:port,host:port`, or `rediss+cluster://`.
 */
export const redisUrl = z
  .string()
  .refine(
    isRedisUrl,
    'expected redis://:password@host:port/database or redis+cluster://:password@host:port,host:port (rediss for TLS), ' +
      'password and database optional',
  )

/** Some nodes of a cluster, and how to connect to each. */
export interface ClusterAddress {
  readonly nodes: readonly { readonly host: string; readonly port: number }[]
  readonly username: string | undefined
  readonly password: string | undefined
  readonly tls: boolean
}

/** Returns the nodes of a cluster URL; `undefined` for a single server. */
export function clusterAddress(url: string): ClusterAddress | undefined {
  const [one, nodes] = splitNodes(url)
  if (nodes === undefined) return undefined
  const { protocol, username, password } = new URL(one)
  return {
    nodes: nodes.split(',').map((node) => {
      const colon = node.lastIndexOf(':')
      return { host: node.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(node.slice(colon + 1)) }
    }),
    username: username === '' ? undefined : decodeURIComponent(username),
    password: password === '' ? undefined : decodeURIComponent(password),
    tls: protocol === 'rediss:',
  }
}

/** Returns what may be shown of such a URL: hosts, ports, and the database. */
export function redisAddress(url: string): string {
  const [one, nodes] = splitNodes(url)
  if (nodes !== undefined) return nodes
  const { hostname, port, pathname } = new URL(one)
  return `${hostname}:${port || DEFAULT_PORT}${pathname.length > 1 ? pathname : ''}`
}
