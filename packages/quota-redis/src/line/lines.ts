import type { Cluster } from 'ioredis'
import { ClusterNodes } from './cluster-nodes.ts'
import { Connection, inOnePacket } from './connection.ts'
import { keySlot } from './key-slot.ts'
import type { Line, LineOptions, RedisClient } from './line.ts'

/** Connections of our own to the servers that a client knows, for keys in many slots; the client itself is left alone. */
export interface Lines {
  /** To the server that a key is on, whichever that is at the time. */
  to(key: string): Line
  /** What `send` sends without waiting for anything is one write on each connection. */
  inOnePacket(send: () => void): void
  close(): void
}

export function linesOf(client: RedisClient, options: LineOptions): Lines {
  if (isCluster(client)) {
    const nodes = new ClusterNodes(client, options)
    return {
      to: (key) => nodes.lineTo(keySlot(key)),
      inOnePacket: (send) => nodes.inOnePacket(send),
      close: () => nodes.close(),
    }
  }
  const connection = new Connection(client, options)
  return {
    to: () => connection,
    inOnePacket: (send) => inOnePacket([connection], send),
    close: () => connection.close(),
  }
}

/** A line of our own to the server that one key is on, and with it those of a store that are all in one slot. */
export function lineTo(client: RedisClient, key: string, options: LineOptions): Line {
  return linesOf(client, options).to(key)
}

/** The listener to a channel's messages. */
export interface Hearing {
  onMessage(message: string): void
  /** Messages are heard from now on, the first time and after every reconnect; those before may have been missed. */
  onHearing(): void
}

/** A line that hears messages and does nothing else, to the server of the channel of that name. */
export function hear(client: RedisClient, channel: string, listener: Hearing): Line {
  const onMessage = (message: string): void => listener.onMessage(message)
  const onHearing = (): void => listener.onHearing()
  return lineTo(client, channel, {
    onUsable: (server) => {
      if (!(server instanceof Connection)) return
      // A failure closes the connection, or leaves it to the listener to look now and then.
      server.driver.subscribe(channel, onMessage).then(onHearing, () => undefined)
    },
  })
}

export function isCluster(client: RedisClient): client is Cluster {
  return 'isCluster' in client && client.isCluster
}
