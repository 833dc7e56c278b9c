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

export type Play<Given = Scene> = (given: Given) => Promise<void>

/** What a group of cases has in common. */
export interface Stage {
  /** How their names begin. */
  readonly about?: string
  /** @default one window of an hour */
  readonly limits?: Limits
  /** The room of each limit. @default 10 */
  readonly room?: number
  readonly needs?: readonly Need[]
  readonly wishes?: StoreWishes
}

interface Needing<Given> {
  readonly needs: readonly Need[]
  readonly play: Play<Given>
}

/** Tests by the names of their cases. */
export type Plays<Given = Scene> = Readonly<Record<string, Play<Given> | Needing<Given>>>

/** Marks a case that needs more than its group does. */
export function needing<Given = Scene>(needs: Need | readonly Need[], play: Play<Given>): Needing<Given> {
  return { needs: [needs].flat(), play }
}

/** Makes cases. Where a store lacks what one needs, {@link WITHOUT} says what it must do instead. */
export function casesOn(stage: Stage, plays: Plays): readonly ConformanceCase[] {
  return casesWith(stage, plays, (scene, play) => play(scene))
}

/** Makes cases that play with more than a scene: `around` makes it, plays with it, and ends it. */
export function casesWith<Given>(
  { about, limits = HOURLY, room = 10, needs = [], wishes = {} }: Stage,
  plays: Plays<Given>,
  around: (scene: Scene, play: Play<Given>) => Promise<void>,
): readonly ConformanceCase[] {
  return Object.entries(plays).map(([name, each]): ConformanceCase => {
    const { needs: more, play } = typeof each === 'function' ? needing([], each) : each
    const all = [...needs, ...more]
    return {
      name: about === undefined ? name : `${about}${name}`,
      needs: all,
      wishes,
      async run(harness) {
        const context = contextOf(harness)
        const missing = missingOf(context, all)
        if (missing !== undefined) return WITHOUT[missing](context)
        const probe = new Probe(context.store, limits, room)
        await around({ ...context, ...probe, begin: context.clock.now() }, play)
      },
    }
  })
}
