import type { Redis } from 'ioredis'
import type { OwnClient } from './client-types.ts'

/** What servers of a cluster answer to work that they certainly did not do, and that another one or they themselves soon will. */
const SOON = /^(?:MOVED|ASK|TRYAGAIN|CLUSTERDOWN) /
/** How often work is tried, and the pause between two tries in milliseconds. */
const TRIES = 10
const PAUSE_MS = 50

/**
 * Does one command's work on the server that has its keys; again, for half a second, while a cluster says that it was
 * not done. Other errors, also those after which nobody knows, are the caller's.
 */
export async function carryOut<T>(own: OwnClient, work: (redis: Redis) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    await own.ready()
    try {
      return await workOn(own, work)
    } catch (error) {
      if (attempt === TRIES || !(error instanceof Error) || !SOON.test(error.message)) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

async function workOn<T>(own: OwnClient, work: (redis: Redis) => Promise<T>): Promise<T> {
  try {
    return await work(own.redis)
  } catch (error) {
    const asked = await own.askedServer(error)?.catch(() => undefined)
    if (asked === undefined) throw error
    // Counts for the next command on the connection, which is the work's; it fails together with it.
    asked.asking().catch(() => undefined)
    return work(asked)
  }
}
