import { names as USERS } from '../memory/users.ts'
import { progress } from '../print.ts'
import type { Rate } from '../report.ts'
import { type Contestant, interleave, type RoundOptions } from '../rounds.ts'

/** Resolves to whether a user may continue. */
export type Admit = (user: string) => Promise<boolean>

/** Decides by a server or a file whether a user may continue. */
export interface Decider {
  readonly name: string
  /** Resolves to whether the answer was the expected one. Any other answer ends the suite. */
  readonly admit: Admit
  stop(): void | Promise<void>
}

interface Span {
  readonly durationMs?: number
  /** Requests each of these users once, instead of running for a while. */
  readonly users?: ReadonlySet<string>
}

/** Callers send requests, each the next one as soon as it is answered. */
export async function decide(
  { name, admit }: Decider,
  callers: number,
  { durationMs = Number.POSITIVE_INFINITY, users }: Span,
): Promise<{ decisions: number; elapsedMs: number }> {
  const list = users === undefined ? USERS : [...users]
  const most = users === undefined ? Number.POSITIVE_INFINITY : list.length
  const startedAt = performance.now()
  let decisions = 0
  const call = async (): Promise<void> => {
    while (decisions < most && performance.now() - startedAt < durationMs) {
      const user = list[decisions++ % list.length] as string
      if (!(await admit(user))) throw new Error(`${name}: an unexpected answer for ${user}`)
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  return { decisions, elapsedMs: performance.now() - startedAt }
}

/** A decider with a number of concurrent callers. */
export function contestantOf(decider: Decider, callers: number): Contestant {
  return {
    name: named(decider.name, callers),
    async perSecondOver(durationMs) {
      const { decisions, elapsedMs } = await decide(decider, callers, { durationMs })
      return decisions / (elapsedMs / 1_000)
    },
  }
}

/** Compares deciders with the first of them, with each number of callers. */
export async function ratesOf(
  deciders: readonly Decider[],
  callers: readonly number[],
  options: RoundOptions,
): Promise<Rate[]> {
  const rates: Rate[] = []
  for (const count of callers) {
    progress(`${deciders[0]?.name}, ${count} callers`)
    const contestants = deciders.map((decider) => contestantOf(decider, count))
    rates.push(...(await interleave(contestants, options)))
  }
  return rates
}

/** Works with deciders, and stops them. */
export async function stopping<T>(deciders: readonly Decider[], work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    for (const decider of deciders) await decider.stop()
  }
}

export function named(name: string, callers: number): string {
  return `${name}, ${callers} ${callers === 1 ? 'caller' : 'callers'}`
}
