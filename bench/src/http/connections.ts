import { Agent, request } from 'node:http'
import { USER_HEADER } from './apps.ts'

/** The callers of an app, and the expected answer. */
export interface Load {
  /** Callers, distinguished by a header. */
  readonly users: number
  /** The status that every answer must have. */
  readonly status: number
}

/**
 * Connections that stay open and send one request after the other. A load generator that reconnects each turn would
 * measure the accepting of connections. Each connection has its own loopback address, as real callers have.
 */
export class Connections {
  readonly #agents: readonly Agent[]
  readonly #port: number
  readonly #load: Load
  #next = 0

  constructor(port: number, connections: number, load: Load) {
    this.#agents = Array.from({ length: connections }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
    this.#port = port
    this.#load = load
  }

  /** Sends so many requests over each connection. Throws if an answer has another status. */
  async ask(each: number, { anyStatus = false } = {}): Promise<void> {
    await Promise.all(
      this.#agents.map(async (agent, index) => {
        for (let sent = 0; sent < each; sent++) {
          const status = await this.#statusBy(agent, `127.0.1.${index + 1}`)
          if (!anyStatus && status !== this.#load.status) throw new Error(`answered with ${status}`)
        }
      }),
    )
  }

  close(): void {
    for (const agent of this.#agents) agent.destroy()
  }

  /** Sends the next user's request. */
  #statusBy(agent: Agent, localAddress: string): Promise<number | undefined> {
    this.#next = (this.#next + 1) % this.#load.users
    const headers = { [USER_HEADER]: `user-${this.#next}`, 'content-length': 0 }
    return new Promise((resolve, reject) => {
      const to = { host: '127.0.0.1', port: this.#port, method: 'POST', headers, agent, localAddress }
      request(to, (response) => response.resume().once('end', () => resolve(response.statusCode)))
        .once('error', reject)
        .end()
    })
  }
}
