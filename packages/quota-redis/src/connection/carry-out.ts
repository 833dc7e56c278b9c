import type { Connection } from './connection.ts'
import { isReplyOf } from './errors.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setTimeout } = globalThis

/** How often work is tried, and the pause between two attempts in milliseconds. */
const TRIES = 10
const PAUSE_MS = 50

/**
 * Runs one command's work on the server that has its keys. While a cluster reports that the work was not done and will
 * soon be possible, it is repeated for half a second. Other errors, and unknown outcomes, reject.
 */
export async function carryOut<T>(connection: Connection, work: (connection: Connection) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    await connection.ready()
    try {
      return await followed(connection, work)
    } catch (error) {
      if (attempt === TRIES || !isReplyOf(error, 'MOVED', 'ASK', 'TRYAGAIN', 'CLUSTERDOWN', 'NOAUTH')) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

async function followed<T>(connection: Connection, work: (connection: Connection) => Promise<T>): Promise<T> {
  try {
    return await work(connection)
  } catch (error) {
    const other = await connection.redirected(error)?.catch(() => undefined)
    if (other === undefined) throw error
    return work(other)
  }
}
