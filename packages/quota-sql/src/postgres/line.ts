import { Session, type SessionParts } from './session.ts'

/** A connection that statements share. */
export class Lease {
  readonly #opening: Promise<Session>
  #session: Session | undefined
  #users = 0

  constructor(parts: SessionParts) {
    this.#opening = Session.open(parts)
  }

  get isUsed(): boolean {
    return this.#users > 0
  }

  take(): Promise<Session> {
    this.#users++
    return this.#opening.then((session) => {
      this.#session = session
      return session
    })
  }

  /** @param isBroken it is not to be used again, and what else is under way on it fails */
  give(isBroken: boolean): void {
    this.#users--
    if (isBroken || !this.isUsed) this.#session?.release(isBroken)
  }
}

/** One connection for statements that are under way at once, so that those of a process never wait for each other's locks. */
export class Line {
  readonly #parts: SessionParts
  #lease: Lease | undefined

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  /** The connection of those that are under way; another one where others wait for one of the pool, so that they get theirs. */
  lease(): Lease {
    const isShared = this.#lease?.isUsed === true && this.#parts.pool.waitingCount === 0
    if (!isShared || this.#lease === undefined) this.#lease = new Lease(this.#parts)
    return this.#lease
  }

  /** No more statements go over a connection. */
  end(lease: Lease): void {
    if (this.#lease === lease) this.#lease = undefined
  }
}
