import { type CaseContext, type ConformanceCase, contextOf, missingOf, type Need, type StoreWishes } from './harness.ts'
import { HOURLY, type Limits } from './limits.ts'
import { Probe } from './probe.ts'
import { WITHOUT } from './without.ts'

type Calls = Pick<Probe, keyof Probe>

/** What a case plays with: the harness, and calls on the store with the limits of its group. */
export interface Scene extends CaseContext, Calls {
  /** When the case starts. */
  readonly begin: number
}

export type Play = (scene: Scene) => Promise<void>

/** What a group of cases has in common. */
export interface Stage {
  /** The first word of their names. */
  readonly about?: string
  /** @default one window of an hour */
  readonly limits?: Limits
  /** The room of each limit. @default 10 */
  readonly room?: number
  readonly needs?: readonly Need[]
  readonly wishes?: StoreWishes
}

interface Needing {
  readonly needs: readonly Need[]
  readonly play: Play
}

/** Marks a case that needs more than its group does. */
export function needing(needs: Need | readonly Need[], play: Play): Needing {
  return { needs: [needs].flat(), play }
}

/** Makes cases by their names. Where a store lacks what one needs, {@link WITHOUT} says what it must do instead. */
export function casesOn(
  { about, limits = HOURLY, room = 10, needs = [], wishes = {} }: Stage,
  plays: Readonly<Record<string, Play | Needing>>,
): readonly ConformanceCase[] {
  return Object.entries(plays).map(([name, each]): ConformanceCase => {
    const { needs: more, play } = typeof each === 'function' ? needing([], each) : each
    const all = [...needs, ...more]
    return {
      name: about === undefined ? name : `${about}: ${name}`,
      needs: all,
      wishes,
      async run(harness) {
        const context = contextOf(harness)
        const missing = missingOf(context, all)
        if (missing !== undefined) return WITHOUT[missing](context)
        const probe = new Probe(context.store, limits, room)
        await play({ ...context, ...probe, begin: context.clock.now() })
      },
    }
  })
}
