import { aClock, aFunction, having, objectWhere, oneOf, optional } from '../options/checks.ts'
import { optionsParser } from '../options/options-parser.ts'
import type { Mode } from '../policy/settings.ts'
import type { FactorState, FactorStore } from '../store/factor-store.ts'
import type { OutcomeStore } from '../store/outcomes.ts'
import type { Answer } from '../store/quota-store.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import { type AdaptiveConstants, adaptiveConstants } from './constants.ts'
import { adaptiveLaw, initialFactor, knownFactor } from './law.ts'
import { readAdaptiveCounts } from './rates.ts'

const MINUTE_MS = 60_000

/** A stored minute that is further ahead was written by a wrong clock. It doesn't stop the others. */
const MAX_AHEAD_MINUTES = 5

/**
 * The result of a tick.
 *
 * - `ticked`: the law was applied; see `state.reason`
 * - `done`: this minute or a later one was already ticked, here or in another process
 * - `idle`: the mode isn't `adaptive`
 */
export type AdaptiveTick =
  | { readonly status: 'ticked'; readonly state: FactorState }
  | { readonly status: 'done' }
  | { readonly status: 'idle' }

/** Moves the adaptive factor. You can run one per process: each minute is ticked once. */
export interface AdaptiveTicker {
  /**
   * Applies the law to the completed minutes, once per minute.
   *
   * @throws {QuotaError} `other_version` for a stored state of another version
   * @throws the error of a store. Usually nothing has moved, but the store may have written before it threw
   */
  tick(): Promise<AdaptiveTick>
  /** Ticks every 60 seconds until `stop`. The timer doesn't keep the process alive. */
  start(): void
  /** Stops the timer and waits for the tick in flight. You still close the stores. */
  stop(): Promise<void>
}

/**
 * Makes a ticker. It does nothing until you call `tick` or `start`.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function adaptiveTicker(options: AdaptiveTickerOptions): AdaptiveTicker {
  return new Ticker(parseTickerOptions(options))
}

/** The stored state, or the last state of a dry run. */
interface Standing {
  readonly version: number
  /** The last minute ticked; `undefined`: none. */
  readonly minute: number | undefined
  readonly state: FactorState
}

class Ticker implements AdaptiveTicker {
  readonly #options: AdaptiveTickerOptions
  readonly #constants: AdaptiveConstants
  readonly #clock: Clock
  #dry: Standing | undefined
  #timer: ReturnType<typeof setInterval> | undefined
  #ticking: Promise<AdaptiveTick> | undefined

  constructor(options: AdaptiveTickerOptions) {
    this.#options = options
    this.#constants = adaptiveConstants(options.constants)
    this.#clock = options.clock ?? systemClock
  }

  tick(): Promise<AdaptiveTick> {
    this.#ticking ??= this.#tick().finally(() => {
      this.#ticking = undefined
    })
    return this.#ticking
  }

  start(): void {
    if (this.#timer !== undefined) return
    this.#timer = setInterval(() => {
      this.tick().catch((error: unknown) => this.#options.onError?.(error))
    }, MINUTE_MS)
    this.#timer.unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
    // The caller of the tick gets its error.
    await this.#ticking?.catch(() => undefined)
  }

  async #tick(): Promise<AdaptiveTick> {
    const { settings, dryRun = false } = this.#options
    if (!dryRun && settings !== undefined && (await settings.get()).mode !== 'adaptive') return { status: 'idle' }
    const minute = Math.floor(this.#clock.now() / MINUTE_MS)
    const before = await (dryRun ? this.#standingDry() : this.#standing())
    if (isDone(before.minute, minute)) return { status: 'done' }
    const counts = await readAdaptiveCounts(this.#options.outcomes, minute)
    // The law counts in whole minutes, so that processes which tick at different seconds get the same waits.
    const state = adaptiveLaw(before.state, counts, minute * MINUTE_MS, this.#constants)
    const written = dryRun || (await this.#options.factorStore.compareAndSet(before.version, minute, state))
    if (dryRun) this.#dry = { version: 0, minute, state }
    return written ? { status: 'ticked', state } : { status: 'done' }
  }

  async #standing(): Promise<Standing> {
    const stored = await this.#options.factorStore.read()
    if (stored === undefined) return { version: 0, minute: undefined, state: initialFactor() }
    return knownFactor(stored)
  }

  /** A dry run ignores the minutes that others tick. */
  async #standingDry(): Promise<Standing> {
    return this.#dry ?? { ...(await this.#standing()), minute: undefined }
  }
}

function isDone(tickedMinute: number | undefined, minute: number): boolean {
  return tickedMinute !== undefined && minute <= tickedMinute && tickedMinute <= minute + MAX_AHEAD_MINUTES
}

/** The options of {@link adaptiveTicker}. */
export interface AdaptiveTickerOptions {
  /** The store of call outcomes. */
  readonly outcomes: OutcomeStore
  /** The store of the factor. */
  readonly factorStore: FactorStore
  /**
   * Where to read the mode, for example `quota.settings`. The factor only moves while it is `adaptive`.
   *
   * @default the mode counts as `adaptive`
   */
  readonly settings?: { get(): Answer<{ readonly mode: Mode }> } | undefined
  /**
   * Determines the current minute.
   *
   * @default the system clock
   */
  readonly clock?: Clock | undefined
  /** Constants of the law to change. */
  readonly constants?: Partial<AdaptiveConstants> | undefined
  /**
   * Computes moves without writing them, in any mode. It starts from the stored factor, and continues from its own
   * results.
   *
   * @default false
   */
  readonly dryRun?: boolean | undefined
  /**
   * Receives errors of ticks that the timer started. The next tick tries again.
   *
   * @default errors are dropped
   */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** @throws {QuotaError} `invalid_options` naming every fault, except those of the constants */
const parseTickerOptions: (options: unknown) => AdaptiveTickerOptions =
  /* @__PURE__ */ optionsParser<AdaptiveTickerOptions>('adaptiveTicker()', () => ({
    outcomes: having<OutcomeStore>(['add', 'read'], 'a store of outcomes, for example memoryOutcomes()'),
    factorStore: having<FactorStore>(['read', 'compareAndSet', 'watch'], 'a factor store, for example memoryFactor()'),
    settings: optional(
      having<NonNullable<AdaptiveTickerOptions['settings']>>(
        ['get'],
        'an object with get(), for example quota.settings',
      ),
    ),
    clock: optional(aClock()),
    constants: optional(objectWhere<Partial<AdaptiveConstants>>(() => true, 'an object of constants')),
    dryRun: optional(oneOf(true, false)),
    onError: optional(aFunction<(error: unknown) => void>()),
  }))
