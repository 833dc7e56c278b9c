import type { Adaptive } from '../../api/api.ts'
import type { LinePoint } from '../../ui/chart-options.ts'

/** The factor over time, from the stored moves. Before the oldest move, it's the factor that this move changed. */
export function factorLine({ history, factor }: Pick<Adaptive, 'history' | 'factor'>, since: number): LinePoint[] {
  const oldest = history.at(-1)
  const moves = history.map(({ at, to }) => ({ at: Date.parse(at) / 1_000, value: to })).reverse()
  const points = [{ at: since, value: oldest?.from ?? factor }, ...moves]
  return points.map((point) => ({ ...point, at: Math.max(point.at, since) }))
}

/** @param at seconds since the epoch */
export function factorAt(line: readonly LinePoint[], at: number): number | undefined {
  return line.findLast((point) => point.at <= at)?.value
}
