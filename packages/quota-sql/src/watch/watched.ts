/** What a {@link Watched} works with. */
export interface WatchedParts {
  /** How often to poll for changes while there is a watcher, in milliseconds. */
  readonly pollMs: number
  /** Looks for changes, and reports them. */
  readonly look: () => Promise<void>
  /** Calls `wake` when there may be changes, until what it returns is called; absent: there are no notifications. */
  readonly listen?: ((wake: () => void) => () => void) | undefined
}

/** The watchers of changes, and the polls for them while there is a watcher. */
export class Watched<Change> {
  readonly #parts: WatchedParts
  readonly #listeners = new Set<(change: Change) => void>()
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #isFollowing = false
  /** Whether there was a notification after the last look began. */
  #isNotifiedAgain = false
  #unlisten: (() => void) | undefined

  constructor(parts: WatchedParts) {
    this.#parts = parts
  }

  watch(listener: (change: Change) => void): () => void {
    // A function of our own, so that one listener may watch twice.
    const entry = (change: Change): void => listener(change)
    this.#listeners.add(entry)
    this.#timer ??= setInterval(() => void this.look().catch(ignored), this.#parts.pollMs).unref()
    this.#unlisten ??= this.#parts.listen?.(() => void this.#notified())
    return () => {
      this.#listeners.delete(entry)
      if (this.#listeners.size === 0) this.#rest()
    }
  }

  notify(change: Change): void {
    for (const listener of [...this.#listeners]) listener(change)
  }

  /** Looks now; calls at the same time share one look. */
  look(): Promise<void> {
    this.#looking ??= this.#parts.look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  /** A look in flight at the notification may have missed the change. */
  async #notified(): Promise<void> {
    this.#isNotifiedAgain = true
    if (this.#isFollowing) return
    this.#isFollowing = true
    await this.#looking?.catch(ignored)
    while (this.#isNotifiedAgain && this.#listeners.size > 0) {
      this.#isNotifiedAgain = false
      await this.look().catch(ignored)
    }
    this.#isFollowing = false
  }

  /** Ends all notifications. Resolves when nothing is in flight. */
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
  // The next look reports the error.
}
