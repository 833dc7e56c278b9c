import type { Burst, WindowDefinition } from '@scoregw/quota/store'

export type { Burst, WindowDefinition }

/** A length of time, as tables had it. */
export type Duration = number | `${number}${'s' | 'm' | 'h' | 'd'}`

const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const

/** Converts a length of time to milliseconds. */
export function lengthOf(duration: unknown): number {
  if (typeof duration === 'number') return duration
  const [, count, unit] = /^(\d+)(ms|[smhd])$/.exec(String(duration)) ?? []
  return Number(count) * UNITS[unit as keyof typeof UNITS]
}

/** Returns one label for all ways to write a length. */
export function labelOf(lengthMs: number): string {
  const [unit, each] = Object.entries(UNITS).find(([, ms]) => lengthMs % ms === 0) ?? ['ms', 1]
  return `${lengthMs / each}${unit}`
}

/** Adds the length of windows that state it as `per` or only in their label. */
export function withLengths(windows: readonly object[]): readonly object[] {
  return windows.map((window) => {
    const { per, ...rest } = window as { readonly per?: unknown; readonly label: string; readonly every?: string }
    if ('lengthMs' in rest || rest.every !== undefined) return rest
    return { ...rest, lengthMs: lengthOf(per ?? rest.label) }
  })
}
