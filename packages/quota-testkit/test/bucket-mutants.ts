import type { Clock } from '@scoregw/quota'
import type { TakeRequest } from '@scoregw/quota/store'
import { ModelCounters, type ModelLimit, type ModelState } from '../src/model/model-counters.ts'
import { ModelledCounters, modelStore, type PlacedWindow, type Where } from '../src/model/model-store.ts'
import { type ModelSpan, ModelWindows, type OpenWindow } from '../src/model/model-windows.ts'
import type { Mutant } from './mutant.ts'

type Refill = { readonly perMs: number; readonly rate: number }

/** A mutant that may be one of the model's windows. */
interface BucketMutant extends Mutant {
  readonly Windows?: typeof ModelWindows
}

/** Windows of another class behind the usual counters. */
function mutant(fault: string, Windows: typeof ModelWindows): BucketMutant {
  class Model extends ModelCounters {
    override readonly windows: ModelWindows

    constructor(clock: Clock, state?: ModelState) {
      super(clock, state)
      this.windows = new Windows(clock, this.state.windows)
    }
  }
  return { fault, Windows, make: (clock) => modelStore(clock, ModelledCounters, Model) }
}

function ofCounters(fault: string, Counters: typeof ModelledCounters): Mutant {
  return { fault, make: (clock) => modelStore(clock, Counters), unseenByHistories: true }
}

/** Counters that see other spans than a request says. */
function seeing(change: (span: ModelSpan, limit: number) => ModelSpan): typeof ModelledCounters {
  return class extends ModelledCounters {
    override windows(where: Where): PlacedWindow[] | undefined {
      return super.windows(where)?.map((window) => ({ ...window, span: change(window.span, window.limit) }))
    }
  }
}

/** Stores that are wrong in one way each about buckets: each leaves one of the rules out. */
export const BUCKET_MUTANTS: readonly BucketMutant[] = [
  mutant(
    'what comes back is counted in doubles',
    class extends ModelWindows {
      override back(ageMs: number, { perMs, rate }: Refill): number {
        return ageMs <= 0 ? 0 : Math.floor(ageMs * (rate / perMs))
      }
    },
  ),
  mutant(
    'a token comes back each so many whole milliseconds',
    class extends ModelWindows {
      override back(ageMs: number, { perMs, rate }: Refill): number {
        return ageMs <= 0 || rate === 0 ? 0 : Math.floor(ageMs / Math.max(1, Math.floor(perMs / rate)))
      }
    },
  ),
  mutant(
    'a clock that steps back gives tokens',
    class extends ModelWindows {
      override back(ageMs: number, refill: Refill): number {
        return super.back(Math.abs(ageMs), refill)
      }
    },
  ),
  mutant(
    'a full bucket goes on',
    class extends ModelWindows {
      override isFull(): boolean {
        return false
      }
    },
  ),
  mutant(
    'a bucket that is given back within its millisecond opens again',
    class extends ModelWindows {
      override isFull({ used }: OpenWindow, span: ModelSpan): boolean {
        return 'perMs' in span && span.rate > 0 && used === 0
      }
    },
  ),
  mutant(
    'the start never moves',
    class extends ModelWindows {
      override passed(): { ms: number; tokens: number } {
        return { ms: 0, tokens: 0 }
      }
    },
  ),
  mutant(
    'the start moves to the instant, by whole tokens',
    class extends ModelWindows {
      override passed({ startedAt }: OpenWindow, span: ModelSpan): { ms: number; tokens: number } {
        if (!('perMs' in span) || span.rate === 0) return { ms: 0, tokens: 0 }
        const ms = Math.max(0, this.clock.now() - startedAt)
        return { ms, tokens: this.back(ms, span) }
      }
    },
  ),
  mutant(
    'a bucket without a limit moves',
    class extends ModelWindows {
      override passed({ startedAt }: OpenWindow, span: ModelSpan): { ms: number; tokens: number } {
        const isOver = 'perMs' in span && this.clock.now() >= startedAt + span.perMs
        return isOver ? { ms: span.perMs, tokens: span.rate } : { ms: 0, tokens: 0 }
      }
    },
  ),
  mutant(
    'a bucket ends with its length',
    class extends ModelWindows {
      override lasts(span: { readonly lengthMs: number } | { readonly perMs: number }): number {
        return 'perMs' in span ? span.perMs : span.lengthMs
      }
    },
  ),
  mutant(
    'a bucket ends when it is full, and not before',
    class extends ModelWindows {
      override lasts(span: { readonly lengthMs: number } | { readonly perMs: number }): number {
        return 'perMs' in span ? 1_000 * span.perMs : span.lengthMs
      }
    },
  ),
  mutant(
    'tokens go back to any start that a bucket has',
    class extends ModelWindows {
      override refund(name: string, startedAt: number, tokens: number): void {
        const window = this.windows[name]
        super.refund(name, window !== undefined && 'perMs' in window.span ? window.startedAt : startedAt, tokens)
      }
    },
  ),
  ofCounters(
    'another rate is another counter',
    class extends ModelledCounters {
      override windows(where: Where): PlacedWindow[] | undefined {
        return super
          .windows(where)
          ?.map((each) => ('perMs' in each.span ? { ...each, name: `${each.name} ${each.span.rate}` } : each))
      }
    },
  ),
  ofCounters(
    'the burst is all that comes back',
    seeing((span, limit) => ('perMs' in span && Number.isFinite(limit) ? { ...span, rate: limit } : span)),
  ),
  ofCounters(
    'nothing comes back in shadow',
    seeing((span, limit) => ('perMs' in span && !Number.isFinite(limit) ? { ...span, rate: 0 } : span)),
  ),
  ofCounters(
    'an older policy forgets buckets',
    class extends ModelledCounters {
      override take(request: TakeRequest) {
        const isOld = this.places.every(({ cell }) => cell.kind !== 'bucket')
        for (const name of Object.keys(this.model.state.windows))
          if (isOld && name.includes('bucket')) delete this.model.state.windows[name]
        return super.take(request)
      }
    },
  ),
  {
    fault: 'an overrun that has to fit does not find what came back',
    make: (clock) =>
      modelStore(
        clock,
        ModelledCounters,
        class extends ModelCounters {
          #isSettling = false

          override settleHold(...args: Parameters<ModelCounters['settleHold']>) {
            this.#isSettling = true
            const settled = super.settleHold(...args)
            this.#isSettling = false
            return settled
          }

          override room(windows: readonly ModelLimit[], unit: string): number {
            const still = windows.map((each) =>
              'perMs' in each.span ? { ...each, span: { ...each.span, rate: 0 } } : each,
            )
            return super.room(this.#isSettling ? still : windows, unit)
          }
        },
      ),
  },
]
