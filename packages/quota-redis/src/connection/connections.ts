import type { Cluster } from 'ioredis'
import { ClusterNodes, keySlot } from './cluster-nodes.ts'
import type { Connection, ConnectionOptions, RedisClient } from './connection.ts'
import { isReplyOf } from './errors.ts'
import { ServerConnection } from './server-connection.ts'

/**
 * A store's own connections to the servers that a client is configured for, with keys in many slots. The client itself
 * isn't used.
 */
export interface Connections {
  /** The connection to the server of a key, which may change. */
  to(key: string): Connection
  close(): void
}

export function connectionsOf(client: RedisClient, options: ConnectionOptions): Connections {
  if (isCluster(client)) {
    const nodes = new ClusterNodes(client, options)
    return {
      to: (key) => nodes.connectionTo(keySlot(key)),
      close: () => nodes.close(),
    }
  }
  const connection = new ServerConnection(client, options)
  return {
    to: () => connection,
    close: () => connection.close(),
  }
}

/** A store's own connection to the server of one key, for stores whose keys are all in one slot. */
export function connectionTo(client: RedisClient, key: string, options: ConnectionOptions): Connection {
  return connectionsOf(client, options).to(key)
}

/** Listens to a channel's messages. */
export interface ChannelListener {
  onMessage(message: string): void
  /** Messages arrive from now on, the first time and after each reconnect. Earlier ones may have been missed. */
  onSubscribed(): void
  /** The user may not subscribe to it. */
  onRefused(reason: string): void
}

/** A connection that only receives messages, to the server of that channel. */
export function subscribe(client: RedisClient, channel: string, listener: ChannelListener): Connection {
  const onMessage = (message: string): void => listener.onMessage(message)
  const onSubscribed = (): void => listener.onSubscribed()
  return connectionTo(client, channel, {
    onUsable: (server) => {
      if (!(server instanceof ServerConnection)) return
      // Any other failure closes the connection, so that this is repeated.
      server.driver.subscribe(channel, onMessage).then(onSubscribed, (error: unknown) => {
        if (isReplyOf(error, 'NOPERM')) listener.onRefused(error.message)
      })
    },
  })
}

export function isCluster(client: RedisClient): client is Cluster {
  return 'isCluster' in client && client.isCluster
}
