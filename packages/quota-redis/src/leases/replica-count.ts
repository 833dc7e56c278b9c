import { type Connection, type Reply, textOf } from '../connection/connection.ts'

/** How long a count is used without looking again, in milliseconds. */
const USED_MS = 1_000

/**
 * How many replicas could take a server's place, as that server has heard: all that its cluster knows and has not found
 * to be gone, also those whose link is down. The client's table of slots leaves out replicas that have received nothing
 * yet, and a server's own count those that have lost their link; either could take over and have forgotten a grant.
 */
export class ReplicaCount {
  #server: Connection | undefined
  #count = 0
  #atMs = 0
  #reading: Promise<void> | undefined

  /** @throws the client's error when the server does not answer */
  async of(server: Connection): Promise<number> {
    const isKnown = server === this.#server
    if (!isKnown || performance.now() - this.#atMs >= USED_MS) {
      this.#reading ??= this.#read(server).finally(() => {
        this.#reading = undefined
      })
      // An old count delays no call; a look that fails is made again by the next one.
      if (isKnown) this.#reading.catch(() => undefined)
      else await this.#reading
    }
    return this.#count
  }

  async #read(server: Connection): Promise<void> {
    const id = textOf(await server.send('CLUSTER', 'MYID'))!
    const lines = (await server.send('CLUSTER', 'REPLICAS', id)) as readonly Reply[]
    const flagsOf = (line: Reply): readonly string[] => (textOf(line)?.split(' ')[2] ?? '').split(',')
    this.#count = lines.filter((line) => !flagsOf(line).includes('fail')).length
    this.#server = server
    this.#atMs = performance.now()
  }
}
