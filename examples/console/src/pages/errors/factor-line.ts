import type { Adaptive } from '../../api/api.ts'

/** From this instant on, in seconds since the epoch, the factor was this. */
export interface FactorStep {
  readonly at: number
  readonly factor: number
}

/** The factor over a span of time, from the moves that are kept; before the oldest of them it was what that one left. */
export function factorSteps({ history, factor }: Pick<Adaptive, 'history' | 'factor'>, since: number): FactorStep[] {
  const oldest = history.at(-1)
  const moves = history.map(({ at, to }) => ({ at: Date.parse(at) / 1_000, factor: to })).reverse()
  return [{ at: since, factor: oldest?.from ?? factor }, ...moves].map((step) => ({
    ...step,
    at: Math.max(step.at, since),
  }))
}

/** The factor at an instant. */
export function factorAt(steps: readonly FactorStep[], at: number): number | undefined {
  return steps.findLast((step) => step.at <= at)?.factor
}
