import { type Connection, type Reply, textOf } from '../connection/connection.ts'

// As they are now: a test may replace them later, and a server goes on.
const steadyMs = performance.now.bind(performance)

/** How long a count is used before it is read again, in milliseconds. */
const USED_MS = 1_000

/**
 * How many replicas could take a server's place, according to that server. It counts all replicas known to its cluster
 * and not found to be gone, even if their link is down. The client's slot table omits replicas that have received
 * nothing yet. The server's own count omits replicas that lost their link. Either could take over without a grant.
 */
export class ReplicaCount {
  #server: Connection | undefined
  #count = 0
  #atMs = 0
  #reading: Promise<void> | undefined

  /** @throws the client's error if the server does not answer */
  async of(server: Connection): Promise<number> {
    const isKnown = server === this.#server
    if (!isKnown || steadyMs() - this.#atMs >= USED_MS) {
      this.#reading ??= this.#read(server).finally(() => {
        this.#reading = undefined
      })
      // An old count delays no call. A failed read is repeated by the next call.
      if (isKnown) this.#reading.catch(() => undefined)
      else await this.#reading
    }
    return this.#count
  }

  async #read(server: Connection): Promise<void> {
    const id = textOf(await server.send('CLUSTER', 'MYID')) ?? ''
    const lines = (await server.send('CLUSTER', 'REPLICAS', id)) as readonly Reply[]
    const flagsOf = (line: Reply): readonly string[] => (textOf(line)?.split(' ')[2] ?? '').split(',')
    this.#count = lines.filter((line) => !flagsOf(line).includes('fail')).length
    this.#server = server
    this.#atMs = steadyMs()
  }
}
