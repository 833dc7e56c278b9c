import type { Policy } from '@scoregw/quota'
import { type BucketWindow, burstUnder } from '@scoregw/quota/store'

/** Returns the labels of all limits in the order of statuses: windows, then concurrency. */
export function limitLabels({ windows, concurrency }: Pick<Policy, 'windows' | 'concurrency'>): readonly string[] {
  const labels = windows.map(({ label }) => label)
  return concurrency === undefined ? labels : [...labels, concurrency.label]
}

/** Returns the labels of a layer and category: all windows, and slots if they are limited there. */
export function labelsOf(policy: Policy, layer: string, category: string): readonly string[] {
  const limits = policy.base[layer]?.[category] ?? {}
  return limitLabels(policy).filter((label) => Object.hasOwn(limits, label))
}

/** Returns the labels of these layers. */
export function labelsOfAny(policy: Policy, layers: readonly string[], category: string): readonly string[] {
  return limitLabels(policy).filter((label) =>
    layers.some((layer) => labelsOf(policy, layer, category).includes(label)),
  )
}

/** Whether a label is that of the concurrency limit. */
export function isSlots({ concurrency }: Pick<Policy, 'concurrency'>, label: string): boolean {
  return concurrency?.label === label
}

/** The most tokens that one request can take from a limit: a bucket's burst, otherwise the limit. */
export function mostAtOnce({ windows }: Pick<Policy, 'windows'>, label: string, limit: number): number {
  const { burst } = (windows.find((window) => window.label === label) ?? {}) as Partial<BucketWindow>
  return burst === undefined ? limit : burstUnder(limit, burst)
}
