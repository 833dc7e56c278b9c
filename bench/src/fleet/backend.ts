/** Decides whether a user may continue. Throws on an answer that isn't the expected one. */
export interface Limiter {
  decide(user: string): Promise<void>
  close(): void | Promise<void>
}

/** A server that the processes of a fleet share, and what they can call on it. */
export interface Backend {
  /** Starts the server. */
  start(): Promise<SharedServer>
  /** By name, in the order of the table. Each opens its own connection. All are compared with the first. */
  readonly limiters: Readonly<Record<string, (address: string) => Limiter | Promise<Limiter>>>
  readonly goals: readonly Goal[]
}

/** At most how much processor time one limiter costs, compared with another. */
interface Goal {
  readonly name: string
  readonly most: number
  /** Both limiters by name. */
  readonly of: readonly [limiter: string, other: string]
  readonly cost: 'server' | 'node'
}

export interface SharedServer {
  /** How a process finds it. */
  readonly address: string
  /** The processor time of the server so far, in microseconds. */
  cpuUs(): Promise<number>
  stop(): Promise<void>
}

/** A turn: every process of the fleet uses this limiter for so long or so often, with one call in flight. */
export type Turn = { readonly name: string } & ({ readonly durationMs: number } | { readonly decisions: number })

/** What a process did in its turn. */
export type Done = { readonly decisions: number; readonly nodeUs: number } | { readonly error: string }
