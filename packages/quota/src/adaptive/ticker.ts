import { aClock, aFunction, having, objectWhere, oneOf, optional } from '../options/checks.ts'
import { optionsParser } from '../options/options-parser.ts'
import type { Mode } from '../policy/settings.ts'
import type { FactorState, FactorStore } from '../store/factor-store.ts'
import type { OutcomeStore } from '../store/outcome-store.ts'
import type { Answer } from '../store/quota-store.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import { type AdaptiveConstants, adaptiveConstants } from './constants.ts'
import { adaptiveLaw, initialFactor } from './law.ts'
import { adaptiveCounts } from './rates.ts'

const MINUTE_MS = 60_000

/** A stored minute further ahead than this came of a clock that ran ahead, and does not hold up the others. */
const MAX_AHEAD_MINUTES = 5

/**
 * What a tick did.
 *
 * - `ticked`: the law was applied; `state.reason` says what came of it
 * - `done`: this minute or a later one was ticked before, here or in another process
 * - `idle`: the mode is not `adaptive`
 */
export type AdaptiveTick =
  | { readonly status: 'ticked'; readonly state: FactorState }
  | { readonly status: 'done' }
  | { readonly status: 'idle' }

/** Moves the adaptive factor. Any number of processes may run one: each minute is ticked once. */
export interface AdaptiveTicker {
  /**
   * Applies the law to the minutes closed by now, once a minute.
   * @throws the error of a store; nothing has moved, or the store wrote although it threw
   */
  tick(): Promise<AdaptiveTick>
  /** Ticks every 60 seconds until `stop`; its timer keeps no process alive. */
  start(): void
  /** Starts no more ticks, and waits for the one in flight. The stores are the caller's to close. */
  stop(): Promise<void>
}

/**
 * Makes a ticker, which does nothing until `tick` or `start` is called.
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function adaptiveTicker(options: AdaptiveTickerOptions): AdaptiveTicker {
  return new Ticker(parseTickerOptions(options))
}

/** What the law is applied to: what the store holds, or the last state of a dry run. */
interface Standing {
  readonly version: number
  /** `undefined`: never ticked. */
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
    // The failure is reported to the caller that began the tick.
    await this.#ticking?.catch(() => undefined)
  }

  async #tick(): Promise<AdaptiveTick> {
    const { settings, dryRun = false } = this.#options
    if (!dryRun && settings !== undefined && (await settings.get()).mode !== 'adaptive') return { status: 'idle' }
    const minute = Math.floor(this.#clock.now() / MINUTE_MS)
    const before = await (dryRun ? this.#standingDry() : this.#standing())
    if (isDone(before.minute, minute)) return { status: 'done' }
    const { windowMinutes, recentMinutes } = this.#constants
    const minutes = await this.#options.outcomes.read(minute - windowMinutes, minute)
    const counts = adaptiveCounts(minutes, minute - recentMinutes)
    // The law lives in whole minutes, so that processes which tick at different seconds agree about its waits.
    const state = adaptiveLaw(before.state, counts, minute * MINUTE_MS, this.#constants)
    const written = dryRun || (await this.#options.factorStore.compareAndSet(before.version, minute, state))
    if (dryRun) this.#dry = { version: 0, minute, state }
    return written ? { status: 'ticked', state } : { status: 'done' }
  }

  async #standing(): Promise<Standing> {
    const stored = await this.#options.factorStore.read()
    return stored ?? { version: 0, minute: undefined, state: initialFactor() }
  }

  /** The minutes that others tick are no concern of a dry run. */
  async #standingDry(): Promise<Standing> {
    return this.#dry ?? { ...(await this.#standing()), minute: undefined }
  }
}

function isDone(tickedMinute: number | undefined, minute: number): boolean {
  return tickedMinute !== undefined && minute <= tickedMinute && tickedMinute <= minute + MAX_AHEAD_MINUTES
}

/** The options of {@link adaptiveTicker}. */
export interface AdaptiveTickerOptions {
  /** Where the outcomes of calls are counted. */
  readonly outcomes: OutcomeStore
  /** Where the factor lives. */
  readonly factorStore: FactorStore
  /**
   * Says the mode, for example `quota.settings`: the factor moves only while it is `adaptive`.
   * @default the mode is taken to be `adaptive`
   */
  readonly settings?: { get(): Answer<{ readonly mode: Mode }> } | undefined
  /**
   * Says which minute it is.
   * @default the machine's clock
   */
  readonly clock?: Clock | undefined
  /** Constants of the law that differ from the defaults. */
  readonly constants?: Partial<AdaptiveConstants> | undefined
  /**
   * Works out the moves from where the factor stands, regardless of the mode, and writes none: it goes on from its own last
   * state.
   * @default false
   */
  readonly dryRun?: boolean | undefined
  /**
   * Hears of ticks of the timer that failed; the next one tries again.
   * @default nobody does
   */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** @throws {QuotaError} `invalid_options` naming every fault but those of the constants */
const parseTickerOptions: (options: unknown) => AdaptiveTickerOptions =
  /* @__PURE__ */ optionsParser<AdaptiveTickerOptions>('adaptiveTicker()', () => ({
    outcomes: having<OutcomeStore>(['add', 'read'], 'a store of outcomes, for example memoryOutcomes()'),
    factorStore: having<FactorStore>(['read', 'compareAndSet', 'watch'], 'a factor store, for example memoryFactor()'),
    settings: optional(
      having<NonNullable<AdaptiveTickerOptions['settings']>>(['get'], 'what says the mode, as quota.settings does'),
    ),
    clock: optional(aClock()),
    constants: optional(objectWhere<Partial<AdaptiveConstants>>(() => true, 'an object of constants')),
    dryRun: optional(oneOf(true, false)),
    onError: optional(aFunction<(error: unknown) => void>()),
  }))
