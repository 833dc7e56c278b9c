import type { LimitStatus, Policy, Subject } from '@scoregw/quota'
import type { LayerDefinition, LimitRule, WindowDefinition } from '@scoregw/quota/internal'

export function layerOf({ layers }: Policy, { layer }: LimitRule): LayerDefinition {
  const found = layers[layer]
  if (found === undefined) throw new RangeError('a limit without a layer')
  return found
}

/** A subject's key in a layer; `null`: it has none there. */
export function keyOf({ name, shared }: Pick<LayerDefinition, 'name' | 'shared'>, subject: Subject): string | null {
  if (shared) return 'everybody'
  return typeof subject === 'string' ? subject : (subject[name] ?? null)
}

/** Whether a limit counts an operation; `undefined`: any. */
export function counts({ operations }: LimitRule, operation: string | undefined): boolean {
  return operation === undefined || operations === undefined || operations.includes(operation)
}

export function kindOf({ window }: LimitRule): LimitStatus['kind'] {
  if (window === undefined) return 'concurrency'
  if (window.burst !== undefined) return 'bucket'
  return window.every === undefined ? 'rolling' : 'calendar'
}

/** Names a counter: whose it is, and everything that determines when it starts and ends. JSON, so that none are alike. */
export function counterOf(layer: LayerDefinition, subject: Subject, rule: LimitRule): string {
  const { window, unit, name, formerly = name } = rule
  return JSON.stringify([layer.name, keyOf(layer, subject), kindOf(rule), formerly, unit, window && timeOf(window)])
}

/** Number and burst may change without a new counter. */
function timeOf(window: WindowDefinition): unknown {
  if (window.every === undefined) return window.lengthMs
  const { every, timeZone, weekStartsOn = 1, anchor = {} } = window
  return [every, timeZone, every === 'week' ? weekStartsOn : null, anchor]
}

/** The layer that owns a subject's ids and holds: the first in which it has a key of its own. */
export function ownLayer({ layers }: Policy, subject: Subject): LayerDefinition {
  const first = layers.find((layer) => !layer.shared && keyOf(layer, subject) !== null)
  if (first === undefined) throw new RangeError('a subject without a key')
  return first
}

/** The owner of a subject's ids and holds. */
export function ownerOf(policy: Policy, subject: Subject): string {
  const layer = ownLayer(policy, subject)
  return JSON.stringify([layer.name, keyOf(layer, subject)])
}

/** Whether a subject has the keys that the policy needs. */
export function isSubjectOf({ layers }: Policy, subject: Subject): boolean {
  const own = layers.filter(({ shared }) => !shared).map(({ name }) => name)
  if (typeof subject === 'string') return own.length === 1
  const isComplete = own.every((name) => subject[name] !== undefined) && own.some((name) => subject[name] !== null)
  return isComplete && Object.keys(subject).every((name) => own.includes(name))
}
