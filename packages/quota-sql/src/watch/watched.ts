// As they are now: a test may replace them later, and a server goes on.
const { setInterval, clearInterval } = globalThis

/** The dependencies of a {@link Watched}. */
export interface WatchedDeps {
  /** How often to poll for changes while there is a watcher, in milliseconds. */
  readonly pollMs: number
  /** Reads whether there are changes, and reports them. */
  readonly poll: () => Promise<void>
}

/** The watchers of changes, and the polls for them while there is a watcher. */
export class Watched<Change> {
  readonly #deps: WatchedDeps
  readonly #listeners = new Set<(change: Change) => void>()
  #timer: NodeJS.Timeout | undefined
  #polling: Promise<void> | undefined

  constructor(deps: WatchedDeps) {
    this.#deps = deps
  }

  watch(listener: (change: Change) => void): () => void {
    // A new function, so that one listener can watch twice.
    const entry = (change: Change): void => listener(change)
    this.#listeners.add(entry)
    this.#timer ??= setInterval(() => void this.poll().catch(ignored), this.#deps.pollMs).unref()
    return () => {
      this.#listeners.delete(entry)
      if (this.#listeners.size === 0) this.#rest()
    }
  }

  notify(change: Change): void {
    for (const listener of [...this.#listeners]) listener(change)
  }

  /** Polls now; calls at the same time share one poll. */
  poll(): Promise<void> {
    this.#polling ??= this.#deps.poll().finally(() => {
      this.#polling = undefined
    })
    return this.#polling
  }

  /** Ends all notifications. Resolves when nothing is in flight. */
  async close(): Promise<void> {
    this.#listeners.clear()
    this.#rest()
    await this.#polling?.catch(ignored)
  }

  #rest(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

function ignored(): void {
  // The next poll reports the error.
}
