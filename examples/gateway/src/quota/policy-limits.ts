import type { Policy } from '@scoregw/quota'
import { type BucketWindow, burstUnder } from '@scoregw/quota/store'

/** Labels of all limits of a policy, in the order of statuses: its windows, then that of concurrency. */
export function limitLabels({ windows, concurrency }: Pick<Policy, 'windows' | 'concurrency'>): readonly string[] {
  const labels = windows.map(({ label }) => label)
  return concurrency === undefined ? labels : [...labels, concurrency.label]
}

/** Those that a layer and category have: every window, and slots where they are limited. */
export function labelsOf(policy: Policy, layer: string, category: string): readonly string[] {
  const limits = policy.base[layer]?.[category] ?? {}
  return limitLabels(policy).filter((label) => Object.hasOwn(limits, label))
}

/** Those of any of some layers. */
export function labelsOfAny(policy: Policy, layers: readonly string[], category: string): readonly string[] {
  return limitLabels(policy).filter((label) =>
    layers.some((layer) => labelsOf(policy, layer, category).includes(label)),
  )
}

/** Whether a label is that of slots, and not of tokens. */
export function isSlots({ concurrency }: Pick<Policy, 'concurrency'>, label: string): boolean {
  return concurrency?.label === label
}

/** The most tokens that one request can have under a limit: of a bucket its burst. */
export function mostAtOnce({ windows }: Pick<Policy, 'windows'>, label: string, limit: number): number {
  const { burst } = (windows.find((window) => window.label === label) ?? {}) as Partial<BucketWindow>
  return burst === undefined ? limit : burstUnder(limit, burst)
}
