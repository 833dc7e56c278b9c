/** What a {@link Watched} works with. */
export interface WatchedParts {
  /** How often it is looked for changes while somebody watches, in milliseconds. */
  readonly pollMs: number
  /** Looks for what was changed, and tells of it. */
  readonly look: () => Promise<void>
  /** Calls `wake` when there may be changes, until what it returns is called; absent: nobody tells. */
  readonly listen?: ((wake: () => void) => () => void) | undefined
}

/** Those who want to hear of changes, and the looks for them: as long as somebody watches. */
export class Watched<Change> {
  readonly #parts: WatchedParts
  readonly #listeners = new Set<(change: Change) => void>()
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #isFollowing = false
  /** Whether something was told that no look has begun after. */
  #isToldMore = false
  #unlisten: (() => void) | undefined

  constructor(parts: WatchedParts) {
    this.#parts = parts
  }

  watch(listener: (change: Change) => void): () => void {
    // A function of our own, so that one listener may watch twice.
    const entry = (change: Change): void => listener(change)
    this.#listeners.add(entry)
    this.#timer ??= setInterval(() => void this.look().catch(ignored), this.#parts.pollMs).unref()
    this.#unlisten ??= this.#parts.listen?.(() => void this.#told())
    return () => {
      this.#listeners.delete(entry)
      if (this.#listeners.size === 0) this.#rest()
    }
  }

  tell(change: Change): void {
    for (const listener of [...this.#listeners]) listener(change)
  }

  /** Looks now; calls at the same time share one look. */
  look(): Promise<void> {
    this.#looking ??= this.#parts.look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  /** A look that was under way when it was told may not have seen it. */
  async #told(): Promise<void> {
    this.#isToldMore = true
    if (this.#isFollowing) return
    this.#isFollowing = true
    await this.#looking?.catch(ignored)
    while (this.#isToldMore && this.#listeners.size > 0) {
      this.#isToldMore = false
      await this.look().catch(ignored)
    }
    this.#isFollowing = false
  }

  /** Nobody is told any more. Resolves when nothing is under way. */
  async close(): Promise<void> {
    this.#listeners.clear()
    this.#rest()
    await this.#looking?.catch(ignored)
  }

  #rest(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#unlisten?.()
    this.#unlisten = undefined
  }
}

function ignored(): void {
  // The next look tells.
}
