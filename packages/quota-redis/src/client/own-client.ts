import type { Cluster } from 'ioredis'
import type { OwnClient, OwnClientOptions, RedisClient } from './client-types.ts'
import { ClusterNodes } from './cluster-nodes.ts'
import { Connection, together } from './connection.ts'
import { keySlot } from './key-slot.ts'

/** A connection of our own to the server that `client` is connected to; `client` itself is left alone. */
export function ownClient(client: RedisClient, options: OwnClientOptions): OwnClient {
  if (!isCluster(client)) return new Connection(client, options)
  return new ClusterNodes(client, options).clientOf(keySlot(options.key))
}

/** Connections of our own to the servers that `client` knows, for keys in many slots. */
export interface OwnClients {
  /** The server that a key is on, whichever that is at the time. */
  of(key: string): OwnClient
  /** What `send` sends without waiting for anything is one write on each connection. */
  together(send: () => void): void
  close(): void
}

export function ownClients(client: RedisClient, options: Omit<OwnClientOptions, 'key'>): OwnClients {
  if (isCluster(client)) {
    const nodes = new ClusterNodes(client, options)
    return {
      of: (key) => nodes.clientOf(keySlot(key)),
      together: (send) => nodes.together(send),
      close: () => nodes.close(),
    }
  }
  const connection = new Connection(client, options)
  return { of: () => connection, together: (send) => together([connection], send), close: () => connection.close() }
}

function isCluster(client: RedisClient): client is Cluster {
  return client.isCluster
}
